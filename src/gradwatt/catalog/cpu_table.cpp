#include "gradwatt/catalog/cpu_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "gradwatt/core/text.hpp"

namespace gradwatt::catalog {
namespace {

constexpr std::string_view kAmd = "AMD product specifications (amd.com): default TDP, cores, memory channels";
constexpr std::string_view kIntel = "Intel product specifications (ark.intel.com): TDP, cores, memory channels";
constexpr std::string_view kIntelTurbo =
    "Intel product specifications (ark.intel.com): processor base power, maximum turbo power, cores, memory channels";
constexpr std::optional<double> kNone;

constexpr auto kCpus = std::to_array<CpuRow>({
    // AMD EPYC, second generation
    {"EPYC 7H12", 280, kNone, 64, 8, kAmd},
    {"EPYC 7742", 225, kNone, 64, 8, kAmd},
    {"EPYC 7702", 200, kNone, 64, 8, kAmd},
    {"EPYC 7702P", 200, kNone, 64, 8, kAmd},
    {"EPYC 7662", 225, kNone, 64, 8, kAmd},
    {"EPYC 7642", 225, kNone, 48, 8, kAmd},
    {"EPYC 7552", 200, kNone, 48, 8, kAmd},
    {"EPYC 7542", 225, kNone, 32, 8, kAmd},
    {"EPYC 7502", 180, kNone, 32, 8, kAmd},
    {"EPYC 7502P", 180, kNone, 32, 8, kAmd},
    {"EPYC 7452", 155, kNone, 32, 8, kAmd},
    {"EPYC 7402", 180, kNone, 24, 8, kAmd},
    {"EPYC 7402P", 180, kNone, 24, 8, kAmd},
    {"EPYC 7302", 155, kNone, 16, 8, kAmd},
    {"EPYC 7302P", 155, kNone, 16, 8, kAmd},
    {"EPYC 7282", 120, kNone, 16, 8, kAmd},
    {"EPYC 7272", 120, kNone, 12, 8, kAmd},
    {"EPYC 7262", 155, kNone, 8, 8, kAmd},
    {"EPYC 7252", 120, kNone, 8, 8, kAmd},
    {"EPYC 7232P", 120, kNone, 8, 8, kAmd},
    // AMD EPYC, third generation
    {"EPYC 7763", 280, kNone, 64, 8, kAmd},
    {"EPYC 7713", 225, kNone, 64, 8, kAmd},
    {"EPYC 7713P", 225, kNone, 64, 8, kAmd},
    {"EPYC 7663", 240, kNone, 56, 8, kAmd},
    {"EPYC 7643", 225, kNone, 48, 8, kAmd},
    {"EPYC 75F3", 280, kNone, 32, 8, kAmd},
    {"EPYC 7543", 225, kNone, 32, 8, kAmd},
    {"EPYC 7543P", 225, kNone, 32, 8, kAmd},
    {"EPYC 7513", 200, kNone, 32, 8, kAmd},
    {"EPYC 74F3", 240, kNone, 24, 8, kAmd},
    {"EPYC 7443", 200, kNone, 24, 8, kAmd},
    {"EPYC 7443P", 200, kNone, 24, 8, kAmd},
    {"EPYC 7413", 180, kNone, 24, 8, kAmd},
    {"EPYC 73F3", 240, kNone, 16, 8, kAmd},
    {"EPYC 7343", 190, kNone, 16, 8, kAmd},
    {"EPYC 7313", 155, kNone, 16, 8, kAmd},
    {"EPYC 7313P", 155, kNone, 16, 8, kAmd},
    // AMD EPYC, fourth and fifth generation
    {"EPYC 9754", 360, kNone, 128, 12, kAmd},
    {"EPYC 9684X", 400, kNone, 96, 12, kAmd},
    {"EPYC 9654", 360, kNone, 96, 12, kAmd},
    {"EPYC 9654P", 360, kNone, 96, 12, kAmd},
    {"EPYC 9554", 360, kNone, 64, 12, kAmd},
    {"EPYC 9554P", 360, kNone, 64, 12, kAmd},
    {"EPYC 9454", 290, kNone, 48, 12, kAmd},
    {"EPYC 9374F", 320, kNone, 32, 12, kAmd},
    {"EPYC 9354", 280, kNone, 32, 12, kAmd},
    {"EPYC 9354P", 280, kNone, 32, 12, kAmd},
    {"EPYC 9334", 210, kNone, 32, 12, kAmd},
    {"EPYC 9965", 500, kNone, 192, 12, kAmd},
    {"EPYC 9755", 500, kNone, 128, 12, kAmd},
    {"EPYC 9575F", 400, kNone, 64, 12, kAmd},
    // AMD workstation and desktop
    {"Ryzen Threadripper PRO 3995WX", 280, kNone, 64, 8, kAmd},
    {"Ryzen Threadripper PRO 3975WX", 280, kNone, 32, 8, kAmd},
    {"Ryzen Threadripper PRO 5995WX", 280, kNone, 64, 8, kAmd},
    {"Ryzen Threadripper PRO 5975WX", 280, kNone, 32, 8, kAmd},
    {"Ryzen Threadripper PRO 5965WX", 280, kNone, 24, 8, kAmd},
    {"Ryzen Threadripper 3990X", 280, kNone, 64, 4, kAmd},
    {"Ryzen Threadripper 3970X", 280, kNone, 32, 4, kAmd},
    {"Ryzen Threadripper 3960X", 280, kNone, 24, 4, kAmd},
    {"Ryzen 9 9950X", 170, kNone, 16, 2, kAmd},
    {"Ryzen 9 7950X", 170, kNone, 16, 2, kAmd},
    {"Ryzen 9 7900X", 170, kNone, 12, 2, kAmd},
    {"Ryzen 9 5950X", 105, kNone, 16, 2, kAmd},
    {"Ryzen 9 5900X", 105, kNone, 12, 2, kAmd},
    {"Ryzen 9 3950X", 105, kNone, 16, 2, kAmd},
    {"Ryzen 9 3900X", 105, kNone, 12, 2, kAmd},
    {"Ryzen 7 5800X", 105, kNone, 8, 2, kAmd},
    {"Ryzen 7 3700X", 65, kNone, 8, 2, kAmd},
    // Intel Xeon E5
    {"Xeon E5-2698 v4", 135, kNone, 20, 4, kIntel},
    {"Xeon E5-2697 v4", 145, kNone, 18, 4, kIntel},
    {"Xeon E5-2695 v4", 120, kNone, 18, 4, kIntel},
    {"Xeon E5-2690 v4", 135, kNone, 14, 4, kIntel},
    {"Xeon E5-2680 v4", 120, kNone, 14, 4, kIntel},
    {"Xeon E5-2660 v4", 105, kNone, 14, 4, kIntel},
    {"Xeon E5-2650 v4", 105, kNone, 12, 4, kIntel},
    {"Xeon E5-2690 v3", 135, kNone, 12, 4, kIntel},
    {"Xeon E5-2680 v3", 120, kNone, 12, 4, kIntel},
    // Intel Xeon Scalable, first and second generation
    {"Xeon Platinum 8180", 205, kNone, 28, 6, kIntel},
    {"Xeon Platinum 8168", 205, kNone, 24, 6, kIntel},
    {"Xeon Platinum 8160", 150, kNone, 24, 6, kIntel},
    {"Xeon Gold 6154", 200, kNone, 18, 6, kIntel},
    {"Xeon Gold 6148", 150, kNone, 20, 6, kIntel},
    {"Xeon Gold 6130", 125, kNone, 16, 6, kIntel},
    {"Xeon Silver 4116", 85, kNone, 12, 6, kIntel},
    {"Xeon Platinum 8280", 205, kNone, 28, 6, kIntel},
    {"Xeon Platinum 8276", 165, kNone, 28, 6, kIntel},
    {"Xeon Platinum 8270", 205, kNone, 26, 6, kIntel},
    {"Xeon Platinum 8268", 205, kNone, 24, 6, kIntel},
    {"Xeon Platinum 8260", 165, kNone, 24, 6, kIntel},
    {"Xeon Gold 6248", 150, kNone, 20, 6, kIntel},
    {"Xeon Gold 6230", 125, kNone, 20, 6, kIntel},
    {"Xeon Gold 6226R", 150, kNone, 16, 6, kIntel},
    // Intel Xeon Scalable, third to fifth generation
    {"Xeon Platinum 8380", 270, kNone, 40, 8, kIntel},
    {"Xeon Platinum 8368", 270, kNone, 38, 8, kIntel},
    {"Xeon Platinum 8360Y", 250, kNone, 36, 8, kIntel},
    {"Xeon Platinum 8358", 250, kNone, 32, 8, kIntel},
    {"Xeon Platinum 8352Y", 205, kNone, 32, 8, kIntel},
    {"Xeon Gold 6348", 235, kNone, 28, 8, kIntel},
    {"Xeon Gold 6338", 205, kNone, 32, 8, kIntel},
    {"Xeon Gold 6330", 205, kNone, 28, 8, kIntel},
    {"Xeon Gold 6326", 185, kNone, 16, 8, kIntel},
    {"Xeon Platinum 8490H", 350, kNone, 60, 8, kIntel},
    {"Xeon Platinum 8480+", 350, kNone, 56, 8, kIntel},
    {"Xeon Platinum 8468", 350, kNone, 48, 8, kIntel},
    {"Xeon Platinum 8462Y+", 300, kNone, 32, 8, kIntel},
    {"Xeon Gold 6448Y", 225, kNone, 32, 8, kIntel},
    {"Xeon Gold 6430", 270, kNone, 32, 8, kIntel},
    {"Xeon Platinum 8592+", 350, kNone, 64, 8, kIntel},
    {"Xeon Platinum 8570", 350, kNone, 56, 8, kIntel},
    {"Xeon Platinum 8568Y+", 350, kNone, 48, 8, kIntel},
    {"Xeon Platinum 8558", 330, kNone, 48, 8, kIntel},
    // Intel desktop
    {"Core i9-9900K", 95, kNone, 8, 2, kIntel},
    {"Core i9-10900K", 125, kNone, 10, 2, kIntel},
    {"Core i9-12900K", 125, 241.0, 16, 2, kIntelTurbo},
    {"Core i7-12700K", 125, 190.0, 12, 2, kIntelTurbo},
    {"Core i9-13900K", 125, 253.0, 24, 2, kIntelTurbo},
    {"Core i7-13700K", 125, 253.0, 16, 2, kIntelTurbo},
    {"Core i9-14900K", 125, 253.0, 24, 2, kIntelTurbo},
});

/// True when `name` holds `model` as whole words: "EPYC 7702" is not in "EPYC 7702P 64-Core".
bool names(std::string_view name, std::string_view model) {
  const auto at = name.find(model);
  if (at == std::string_view::npos) return false;
  const auto end = at + model.size();
  return (at == 0 || name[at - 1] == ' ') && (end == name.size() || name[end] == ' ');
}

}  // namespace

std::span<const CpuRow> cpu_table() { return kCpus; }

std::string clean_cpu_name(std::string_view model_name) {
  std::string text(model_name.substr(0, model_name.find('@')));
  for (const std::string_view noise : {"(R)", "(TM)", "(r)", "(tm)"})
    for (auto at = text.find(noise); at != std::string::npos; at = text.find(noise)) text.erase(at, noise.size());
  std::string clean;
  for (const auto word : core::split_words(text)) {
    if (word == "CPU") continue;
    if (!clean.empty()) clean += ' ';
    clean += word;
  }
  return clean;
}

const CpuRow* find_cpu(std::string_view model_name) {
  const std::string name = clean_cpu_name(model_name);
  const auto* row = std::ranges::find_if(kCpus, [&](const CpuRow& r) { return names(name, r.model); });
  return row != kCpus.end() ? row : nullptr;
}

double package_power_w(double full_w, double utilization, const CpuPowerCurve& curve) {
  const double idle_w = curve.idle_share * full_w;
  return idle_w + (full_w - idle_w) * std::pow(std::clamp(utilization, 0.0, 1.0), curve.alpha);
}

}  // namespace gradwatt::catalog
