#include "progress_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace gradwatt::app {
namespace {

using namespace std::chrono_literals;

std::string metrics_text(const training::Metrics& metrics) {
  std::string text;
  for (const auto& [name, value] : metrics)
    if (name != "examples") text += fmt::format("{}{} {:.4g}", text.empty() ? "" : ", ", name, value);
  return text;
}

}  // namespace

ProgressLine::ProgressLine(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(const training::Progress& p) {
  if (quiet_) return;
  if (p.evaluated) {
    fmt::print(stderr, "{}epoch {}/{}: {}, loss in training {:.4f}, rate {:.4g}, {:.0f} samples/s\n",
               open_ ? "\r\033[K" : "", p.epoch + 1, p.epochs, metrics_text(*p.evaluated), p.loss, p.learning_rate,
               p.samples_per_s);
    open_ = false;
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || now < next_) return;
  next_ = now + 500ms;
  fmt::print(stderr, "\r\033[Kepoch {}/{}  update {}/{}  loss {:.4f}  {:.0f} samples/s", p.epoch + 1, p.epochs, p.step,
             p.steps_per_epoch, p.loss, p.samples_per_s);
  std::fflush(stderr);
  open_ = true;
}

void ProgressLine::end() {
  if (open_) fmt::print(stderr, "\n");
  open_ = false;
}

}  // namespace gradwatt::app
