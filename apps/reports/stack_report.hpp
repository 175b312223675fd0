// The reports of a stack: CSV, JSON, and text. They are written frame by frame, because a stack may
// have too many frames to keep in memory.
#pragma once

#include "reports/mean_pictures.hpp"
#include "reports/stack_frame.hpp"

#include <warpalign/device.hpp>
#include <warpalign/line_offset.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// The transform of a channel.
struct ChannelTransform {
  Affine matrix;  ///< from the pixels of the channel that was registered to those of this one
  std::optional<double> confidence;  ///< empty for that channel, and for a transform from a file
};

/// The offset of lines 1, 3, 5, ..., which was undone before the registration if it is reliable.
struct UndoneLines {
  LineOffset offset;
  bool is_found = true;  ///< false if the user gave it
};

/// The pattern that is fixed to the sensor, which was left out of the registration.
struct LeftOutPattern {
  double rms = 0;          ///< root mean square, in the units of the registered image
  std::size_t frames = 0;  ///< from how many frames it was found
  bool has_scene = true;   ///< whether the frames show anything else
  bool is_clear = true;    ///< false: the scene moves too little; no frame is reliable
  /// By what factor it was subtracted from the reference, if that is another image than a frame: 0
  /// if the image does not show it.
  std::optional<double> reference_gain;
};

/// Data that is known before the first line of the reports.
struct StackSetting {
  StackReference to = StackReference::first;
  DriftOrigin origin;
  Shape shape;
  DeviceInfo device;
  bool fast = false;        ///< the fast pipeline, which measures no overlap
  bool local = false;       ///< local motion, which has no rotation and scale
  bool has_spread = false;  ///< local or deformable motion
  std::optional<UndoneLines> lines;
  std::optional<LeftOutPattern> pattern;
  std::vector<ChannelTransform> channels;  ///< empty if channels are not aligned
};

/// Data that is known after the last frame.
struct StackTotals {
  std::size_t ok = 0;
  std::size_t unreliable = 0;
  std::size_t failed = 0;
  std::string ended_early;         ///< why a file ended too early; empty if none did
  std::vector<std::string> files;  ///< the files written
  double seconds = 0;              ///< total wall time

  void count(const StackFrame& frame);
  [[nodiscard]] std::size_t frames() const { return ok + unreliable + failed; }
};

/// CSV, as described in docs/reference/program-output.md: a header, and a line for each frame.
[[nodiscard]] std::string csv_header(const StackSetting& setting);
[[nodiscard]] std::string csv_line(const StackFrame& frame, const StackSetting& setting);

/// One JSON object, as described in docs/reference/program-output.md: its start, a line for each
/// frame, and its end.
[[nodiscard]] std::string json_start(const StackSetting& setting);
[[nodiscard]] std::string json_line(const StackFrame& frame, const StackSetting& setting,
                                    bool is_first);
/// `means`: null if they were not computed.
[[nodiscard]] std::string json_end(const StackTotals& totals, const MeanPictures* means);

/// What the frames are registered to: "the first frame", "frame 3", "the running mean".
[[nodiscard]] std::string text_of_reference(const StackSetting& setting);

/// Which image the drift leads from and why: "frame 3 (name.png), the first usable frame".
[[nodiscard]] std::string text_of_origin(const StackSetting& setting);

/// A table with a line for each frame, and a summary.
[[nodiscard]] std::string text_header(const StackSetting& setting);
[[nodiscard]] std::string text_line(const StackFrame& frame, const StackSetting& setting);
[[nodiscard]] std::string text_end(const StackSetting& setting, const StackTotals& totals);

}  // namespace warpalign::program
