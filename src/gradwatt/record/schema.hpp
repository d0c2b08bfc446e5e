// The tables of a record file; private to this folder. docs/run-record.md explains each to a reader of the file.
#pragma once

#include <string>

#include "gradwatt/record/metric.hpp"

namespace gradwatt::record::schema {

/// Marks the file as ours ("GWat"), beside PRAGMA user_version.
inline constexpr int kApplicationId = 0x47576174;

/// All tables but those of samples.
inline constexpr const char* kTables = R"(
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE device(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, uuid TEXT, name TEXT, vendor_index INTEGER, host TEXT);
CREATE TABLE device_attribute(device INTEGER, key TEXT, value TEXT, PRIMARY KEY(device, key)) WITHOUT ROWID;
CREATE TABLE series_quality(device INTEGER, metric TEXT, how TEXT, "where" TEXT, scope TEXT, source TEXT,
  cadence_ns INTEGER, sampling TEXT, phase_ns INTEGER, duty REAL, uncertainty REAL, range_low REAL, range_high REAL,
  coverage REAL, update_ns INTEGER, readings INTEGER, failed INTEGER, wraps INTEGER, resets INTEGER, backward INTEGER,
  stuck INTEGER, glitches INTEGER, note TEXT, standard_error REAL, PRIMARY KEY(device, metric)) WITHOUT ROWID;
CREATE TABLE mark(rank INTEGER, kind TEXT, name TEXT, number INTEGER, begin_ns INTEGER, end_ns INTEGER, samples INTEGER,
  data_wait_ns INTEGER, forward_ns INTEGER, backward_ns INTEGER, comm_exposed_ns INTEGER, optimizer_ns INTEGER,
  checkpoint_ns INTEGER, evaluation_ns INTEGER, other_ns INTEGER, clock TEXT);
CREATE TABLE event(time_ns INTEGER, device INTEGER, kind TEXT, text TEXT);
CREATE TABLE fact(name TEXT, subject TEXT, value, unit TEXT, time_ns INTEGER, how TEXT, "where" TEXT, coverage REAL,
  source TEXT);
CREATE TABLE span(rank INTEGER, track TEXT, kind TEXT, begin_ns INTEGER, end_ns INTEGER, bytes INTEGER);
)";

/// Table of a kind's samples. Columns of metrics are added when a series of theirs is announced, so that a row holds no
/// empty cells for what this machine cannot measure.
[[nodiscard]] inline std::string sample_table(DeviceKind kind) { return std::string(name_of(kind)); }

}  // namespace gradwatt::record::schema
