// What data sets of fields on the sphere share: channels, latitudes, normalisation and a climatology, which the
// metrics (latitude-weighted RMSE and ACC) and the reports need.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gradwatt/training/data/dataset.hpp"

namespace gradwatt::training {

struct FieldGrid {
  std::vector<std::string> channels;   ///< names, with the unit where one is known: "u (m/s)"
  std::vector<double> latitudes_deg;   ///< of each row
  std::int64_t columns = 0;            ///< equally spaced around the globe
  std::vector<float> mean, deviation;  ///< of each channel over the training part, in its unit

  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(latitudes_deg.size()); }
  [[nodiscard]] std::size_t field_size() const {
    return channels.size() * latitudes_deg.size() * static_cast<std::size_t>(columns);
  }
};

/// Inputs are normalised fields, channels × rows × columns. The target is the next field, or with steps > 1 the next
/// `steps` fields: steps × channels × rows × columns.
class FieldDataset : public RowDataset {
 public:
  [[nodiscard]] virtual const FieldGrid& grid() const = 0;
  [[nodiscard]] virtual int steps() const = 0;
  /// What one would expect of the target's field `step` (from 0) without a forecast: the mean of the training part,
  /// for the same time of the year where the data have one. Normalised; writes one field.
  virtual void climatology(std::size_t index, int step, std::span<float> field) const = 0;
  /// What was taken away from the field `step` steps after the input (0: from the input) before anybody sees it. Empty:
  /// nothing. Normalised; the data set's.
  [[nodiscard]] virtual std::span<const float> removed(std::size_t /*index*/, int /*step*/) const { return {}; }

  [[nodiscard]] std::vector<std::int64_t> input_shape() const final;
  [[nodiscard]] std::vector<std::int64_t> target_shape() const final;
  [[nodiscard]] std::int64_t classes() const final { return 0; }
};

/// Fields in memory, in the order of time.
class FieldSeries : public FieldDataset {
 public:
  struct Parts {
    FieldGrid grid;
    std::vector<float> fields;        ///< normalised, one after another; less the cycle where there is one
    std::vector<std::size_t> starts;  ///< the field that is the input of each example
    int steps = 1;
    std::vector<float> climatology;  ///< normalised fields of one period
    std::vector<float> cycle;        ///< normalised fields of one period that were taken away; empty: none
    std::vector<std::size_t> phase;  ///< which of them belongs to each field; empty: the first
  };
  explicit FieldSeries(Parts parts) : parts_(std::move(parts)) {}

  [[nodiscard]] std::size_t size() const override { return parts_.starts.size(); }
  [[nodiscard]] core::Result<void> fill(std::size_t index, ExampleRandom& random, ExampleSlot slot) const override;
  [[nodiscard]] const FieldGrid& grid() const override { return parts_.grid; }
  [[nodiscard]] int steps() const override { return parts_.steps; }
  void climatology(std::size_t index, int step, std::span<float> field) const override;
  [[nodiscard]] std::span<const float> removed(std::size_t index, int step) const override;

 private:
  /// Of `period` (climatology or cycle) the part for the field `step` steps after the input of an example.
  [[nodiscard]] std::span<const float> at_its_time(std::span<const float> period, std::size_t index, int step) const;

  Parts parts_;
};

/// Mean and deviation of each channel over `fields` (one after another, in units), into `grid`. Each of them counts
/// rows by cos(latitude), as areas do.
void measure_channels(std::span<const float> fields, FieldGrid& grid);
/// (value − mean) / deviation in place.
void normalise(std::span<float> fields, const FieldGrid& grid);

}  // namespace gradwatt::training
