#include "gradwatt/backends/nvml/nvml_sensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "gradwatt/backends/nvml/metrics.hpp"
#include "gradwatt/backends/nvml/return_code.hpp"

namespace gradwatt::nvml {
namespace {

telemetry::SeriesSpec slice_energy_spec(const MigSlice& slice, const telemetry::SeriesSpec& parent) {
  telemetry::SeriesSpec spec;
  spec.metric = metric::kEnergySlice;
  spec.how = record::How::modelled;
  spec.scope = "slice";
  spec.source = fmt::format("share of {}", parent.source);
  spec.uncertainty = parent.uncertainty;
  if (parent.max_rate) spec.max_rate = *parent.max_rate * *slice.share;
  // Nobody measures a slice. It can have drawn nothing or all of its GPU's energy: these are the only sure bounds.
  spec.range_low = 0;
  spec.range_high = 1 / *slice.share;
  spec.note = fmt::format(
      "{} of the GPU's energy, whatever the other slices did: idle energy is shared, activity is not "
      "weighed",
      slice.share_basis);
  return spec;
}

}  // namespace

NvmlSensor::NvmlSensor(std::optional<Session> session, std::string library_path, const core::Clock& clock,
                       core::Duration interval)
    : session_(std::move(session)), library_path_(std::move(library_path)), clock_(clock), interval_(interval) {}

std::vector<telemetry::SensorDevice> NvmlSensor::devices() const {
  std::vector<telemetry::SensorDevice> devices;
  devices.reserve(entries_.size());
  for (const auto& entry : entries_) {
    devices.push_back({entry->description.device, entry->reader.series()});
    if (entry->slice_energy) devices.back().series.insert(devices.back().series.begin(), *entry->slice_energy);
  }
  return devices;
}

void NvmlSensor::tell(std::string kind, std::string text) {
  if (told_.insert(text).second) untold_.push_back({std::move(kind), std::move(text)});
}

bool NvmlSensor::follow(const telemetry::JobScope::Snapshot& job) {
  if (!session_) {
    if (wants_no_gpu(job)) return false;
    auto library = Library::open(library_path_);
    if (!library) {
      tell("sensor_absent", library.error().message);
      return false;
    }
    session_ = Session{*library, take_inventory(**library)};
  }
  const auto& inventory = session_->inventory;
  const Selection selection = select_gpus(job, inventory.gpus);
  for (const auto& note : selection.notes) tell("gpu_selection", note);
  if (selection.by_index && inventory.mixed_models())
    tell("gpu_order",
         "the node has GPUs of several models: indices in CUDA_VISIBLE_DEVICES are taken in PCI order, which is CUDA's "
         "only with CUDA_DEVICE_ORDER=PCI_BUS_ID; name GPUs by UUID to be sure");
  const auto before = entries_.size();
  for (const Choice& choice : selection.chosen) {
    const auto same = [&](const auto& entry) { return entry->choice == choice; };
    if (std::ranges::any_of(entries_, same)) continue;
    if (choice.slice)
      add_slice(choice);
    else
      add_gpu(choice);
  }
  return entries_.size() > before;
}

void NvmlSensor::add_gpu(Choice choice) {
  const Gpu& gpu = session_->inventory.gpus[choice.gpu];
  auto description = describe_gpu(*session_->library, gpu);
  ReaderTarget target;
  target.handle = target.gpm_handle = gpu.handle;
  target.superchip = gpu.superchip;
  target.shared = gpu.mig;
  target.meaning =
      power_meaning(gpu.architecture, gpu.compute_major, gpu.compute_minor, session_->inventory.driver_version);
  target.ceilings = description.ceilings;
  SeriesReader reader(session_->library, std::move(target), Bounds(description.limits), clock_, interval_,
                      interval_ * static_cast<int>(entries_.size()));
  entries_.push_back(std::make_unique<Entry>(Entry{choice, std::move(description), std::move(reader), {}, {}}));
}

void NvmlSensor::add_slice(Choice choice) {
  const Gpu& gpu = session_->inventory.gpus[choice.gpu];
  const MigSlice& slice = gpu.slices[*choice.slice];
  auto description = describe_slice(gpu, slice);
  ReaderTarget target;
  target.handle = slice.handle;
  target.gpm_handle = gpu.handle;
  target.gpu_instance = slice.gpu_instance;
  SeriesReader reader(session_->library, std::move(target), Bounds(description.limits), clock_, interval_,
                      interval_ * static_cast<int>(entries_.size()));
  auto entry = std::make_unique<Entry>(Entry{choice, std::move(description), std::move(reader), {}, {}});
  // select_gpus puts the GPU before its slices.
  const auto parent = std::ranges::find_if(entries_, [&](const auto& other) {
    return other->choice == Choice{choice.gpu, std::nullopt};
  });
  if (parent != entries_.end()) {
    entry->parent = static_cast<std::size_t>(parent - entries_.begin());
    const auto& series = (*parent)->reader.series();
    const auto energy = std::ranges::find(series, metric::kEnergy, &telemetry::SeriesSpec::metric);
    if (energy != series.end() && slice.share) entry->slice_energy = slice_energy_spec(slice, *energy);
  }
  entries_.push_back(std::move(entry));
}

void NvmlSensor::read(telemetry::Reading& reading) {
  for (auto& note : untold_) reading.event(std::nullopt, std::move(note.kind), std::move(note.text));
  untold_.clear();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    entries_[i]->reader.read(reading, i);
    read_slice_energy(reading, i);
  }
}

void NvmlSensor::read_slice_energy(telemetry::Reading& reading, std::size_t position) {
  Entry& entry = *entries_[position];
  if (!entry.parent || entry.parent_loss_told || entry.reader.lost()) return;
  const SeriesReader& parent = entries_[*entry.parent]->reader;
  if (parent.lost()) {
    entry.parent_loss_told = true;
    reading.lose(position, std::nullopt, "the GPU that the slice belongs to is lost");
    return;
  }
  if (!entry.slice_energy) return;
  const auto& slice = session_->inventory.gpus[entry.choice.gpu].slices[*entry.choice.slice];
  if (const auto energy_uj = parent.energy_uj())
    reading.set_stored(position, metric::kEnergySlice, std::llround(static_cast<double>(*energy_uj) * *slice.share));
  else
    reading.fail(position, metric::kEnergySlice, "the energy counter of the slice's GPU could not be read");
}

std::vector<record::Fact> NvmlSensor::absence_facts() const {
  // The same gap on eight GPUs is one line.
  std::map<std::string, std::vector<std::string>> devices_by_text;
  for (const auto& entry : entries_)
    for (const Absence& absence : entry->reader.absences())
      devices_by_text[fmt::format("{}: {}", absence.what, describe(absence.code))].push_back(
          entry->description.device.uuid);
  std::vector<record::Fact> facts;
  for (const auto& [text, devices] : devices_by_text) {
    record::Fact fact;
    fact.name = "sensor.absent";
    fact.subject = "host";
    fact.value = devices.size() == entries_.size() ? text : fmt::format("{} ({})", text, fmt::join(devices, ", "));
    fact.source = "nvml";
    facts.push_back(std::move(fact));
  }
  return facts;
}

std::vector<record::Fact> NvmlSensor::facts() {
  std::vector<record::Fact> facts;
  if (!session_) return facts;
  for (const auto& entry : entries_) {
    const Gpu& gpu = session_->inventory.gpus[entry->choice.gpu];
    if (entry->choice.slice) {
      facts.push_back(share_fact(gpu.slices[*entry->choice.slice]));
    } else if (!entry->reader.lost()) {
      auto own = facts_of(*session_->library, gpu);
      std::move(own.begin(), own.end(), std::back_inserter(facts));
    }
  }
  auto absent = absence_facts();
  std::move(absent.begin(), absent.end(), std::back_inserter(facts));
  return facts;
}

}  // namespace gradwatt::nvml
