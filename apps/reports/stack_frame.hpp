// The result for one frame of a stack.
#pragma once

#include <warpalign/registrar.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace warpalign::program {

/// What a frame is registered to.
enum class StackReference {
  first,
  previous,  ///< the last frame before it that was registered reliably
  mean       ///< the mean of the frames before it that were, on the first frame's grid
};

/// "first", "previous" or "mean".
[[nodiscard]] const char* name_of(StackReference reference);

/// Where a frame lies: `matrix` and `similarity` map from the first frame; everything else
/// describes the registration to `reference`.
struct FramePlace : Registered {
  bool reliable = false;
  std::optional<std::size_t> reference;  ///< its index; none for the first frame and for a mean
  /// Of local motion, whose mean is the translation: the root mean square distance from it.
  std::optional<double> spread;
};

/// A frame's line in the reports.
struct StackFrame {
  std::size_t index = 0;
  std::string file;  ///< with the frame's number where the file has several
  FramePlace place;
  std::string trouble;  ///< why the frame could not be used; `place` says nothing then
  std::string aligned;  ///< what the aligned frame was written as; empty where it was not
  std::string stem;     ///< the name of the frame's file without folder and extension

  [[nodiscard]] const char* status() const;  ///< "ok", "unreliable" or "failed"
};

}  // namespace warpalign::program
