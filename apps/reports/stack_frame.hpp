// The result for one frame of a stack.
#pragma once

#include <warpalign/registrar.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// The reference of a registration in a stack.
enum class StackReference {
  first,
  previous,  ///< the last reliable frame before it
  mean       ///< the mean of the aligned reliable frames before it
};

/// The name: "first", "previous" or "mean".
[[nodiscard]] const char* name_of(StackReference reference);

/// The alignment of a frame. `matrix` and `similarity` map from the first frame; the other members
/// describe the registration to `reference`.
struct FrameAlignment : Alignment {
  bool reliable = false;
  /// As in RegistrationResult.
  bool ambiguous = false;
  std::vector<Point> period;
  std::optional<Point> undetermined_direction;
  std::optional<std::size_t> reference;  ///< its index; empty for the first frame and for a mean
  /// For local motion, whose mean is the translation: the root mean square distance from the mean.
  std::optional<double> spread;
};

/// A frame in the reports.
struct StackFrame {
  std::size_t index = 0;
  std::string file;  ///< with the frame's number if the file has several
  FrameAlignment place;
  std::string trouble;  ///< why the frame could not be used; `place` is then undefined
  std::string aligned;  ///< the name of the aligned frame; empty if it was not written
  std::string stem;     ///< the name of the frame's file without folder and extension

  [[nodiscard]] const char* status() const;  ///< "ok", "unreliable", "ambiguous" or "failed"
};

}  // namespace warpalign::program
