// The reports of a stack: CSV, JSON, and text for people. They are made frame by frame, because a
// stack may have more frames than should be kept in memory.
#pragma once

#include "reports/mean_pictures.hpp"
#include "reports/stack_frame.hpp"

#include <warpalign/device.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace warpalign::program {

/// What is known before the first frame.
struct StackSetting {
  StackReference to = StackReference::first;
  Shape shape;
  DeviceInfo device;
  bool fast = false;   ///< the fast pipeline, which measures no overlap
  bool local = false;  ///< local motion: places have a spread
};

/// What is known after the last one.
struct StackTotals {
  std::size_t ok = 0;
  std::size_t unreliable = 0;
  std::size_t failed = 0;
  std::string ended_early;  ///< why the frames ended before their time; empty where they did not
  std::vector<std::string> files;  ///< what was written
  double seconds = 0;              ///< wall time of everything

  void count(const StackFrame& frame);
  [[nodiscard]] std::size_t frames() const { return ok + unreliable + failed; }
};

/// CSV as apps/README.md lists it: a header, and a line for each frame.
[[nodiscard]] std::string csv_header(const StackSetting& setting);
[[nodiscard]] std::string csv_line(const StackFrame& frame, const StackSetting& setting);

/// One JSON object as apps/README.md lists it: its start, a line for each frame, and its end.
[[nodiscard]] std::string json_start(const StackSetting& setting);
[[nodiscard]] std::string json_line(const StackFrame& frame, const StackSetting& setting,
                                    bool is_first);
/// `means`: null where they were not computed.
[[nodiscard]] std::string json_end(const StackTotals& totals, const MeanPictures* means);

/// A table with a line for each frame, and a few lines about them all.
[[nodiscard]] std::string text_header(const StackSetting& setting);
[[nodiscard]] std::string text_line(const StackFrame& frame, const StackSetting& setting);
[[nodiscard]] std::string text_end(const StackSetting& setting, const StackTotals& totals);

}  // namespace warpalign::program
