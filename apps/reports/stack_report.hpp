// The reports of a stack: CSV, JSON, a plot, and text for people.
#pragma once

#include "reports/stack_frame.hpp"

#include <warpalign/device.hpp>

#include <string>
#include <vector>

namespace warpalign::program {

struct StackFrame {
  std::string file;  ///< as it was given
  FramePlace place;
  std::string trouble;  ///< why the frame could not be used; `place` says nothing then
  std::string aligned;  ///< the name of its file in the output folder, where there is one

  [[nodiscard]] const char* status() const;  ///< "ok", "unreliable" or "failed"
};

struct StackReport {
  StackReference to = StackReference::first;
  Shape shape;
  DeviceInfo device;
  bool fast = false;  ///< the fast pipeline, which measures no overlap
  std::vector<StackFrame> frames;
  std::vector<std::string> files;  ///< what was written
  double seconds = 0;              ///< wall time of everything

  [[nodiscard]] std::size_t count(const std::string& status) const;
};

/// A header and one line a frame, as apps/README.md lists them.
[[nodiscard]] std::string drift_csv(const StackReport& report);
/// One JSON object, as apps/README.md lists it.
[[nodiscard]] std::string drift_json(const StackReport& report);
/// Translation, rotation and growth (the scale, in per cent) over the frames that are ok, as SVG.
[[nodiscard]] std::string drift_plot(const StackReport& report);
/// A line a frame and a few about them all.
[[nodiscard]] std::string drift_text(const StackReport& report);

}  // namespace warpalign::program
