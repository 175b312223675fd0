// The result for one frame of a stack.
#pragma once

#include <warpalign/registrar.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// What frames are registered to.
enum class StackReference {
  first,      ///< the first usable frame
  previous,   ///< the last reliable frame before it
  mean,       ///< the mean of the aligned reliable frames before it
  automatic,  ///< the sharpest, most textured frame
  frame,      ///< a frame that the user named
  file,       ///< an image that is not part of the stack
  known       ///< nothing: an earlier run has found the transforms
};

/// The name: "first", "previous", "mean", "auto", "frame", "file" or "apply".
[[nodiscard]] const char* name_of(StackReference reference);
/// Whether all frames are registered to the same image.
[[nodiscard]] bool is_fixed(StackReference reference);

/// The image from which the drift leads, and why it was chosen.
struct DriftOrigin {
  enum class Reason {
    first_usable,  ///< the first frame to which another one registers
    unconfirmed,   ///< the first frame with usable pixels, to which none of the others registers
    sharpest,
    named,   ///< by --to
    none,    ///< no frame is usable
    applied  ///< by --apply, which names the file of the transforms
  };
  Reason reason = Reason::first_usable;
  std::optional<std::size_t> frame = 0;  ///< empty for an image that is not part of the stack
  std::string file;

  [[nodiscard]] bool is(std::size_t index) const { return frame == index; }
  /// Whether the drift leads from frame 0, as it does in a stack whose first frame is usable.
  [[nodiscard]] bool is_usual() const { return frame == 0 && reason == Reason::first_usable; }
};

/// The reason as a phrase, such as "the first usable frame".
[[nodiscard]] const char* text_of(DriftOrigin::Reason reason);

/// The alignment of a frame. `matrix` and `similarity` map from the drift's origin; the other
/// members describe the registration to `reference`.
struct FrameAlignment : Alignment {
  bool reliable = false;
  /// As in RegistrationResult.
  bool ambiguous = false;
  std::vector<Point> period;
  std::optional<Point> undetermined_direction;
  /// The reference's index; empty for the drift's origin, for a mean, and for an image that is not
  /// part of the stack.
  std::optional<std::size_t> reference;
  /// For local motion, whose mean is the translation: the root mean square distance from the mean.
  /// For deformable motion, the root mean square distance from the affine step, which is `matrix`.
  std::optional<double> spread;
};

/// A frame in the reports.
struct StackFrame {
  std::size_t index = 0;
  std::string file;  ///< with the frame's number if the file has several
  FrameAlignment place;
  std::string trouble;  ///< why the frame could not be used; `place` is then undefined
  std::string note;     ///< why it is the drift's origin, if that is not obvious
  std::string aligned;  ///< the name of the aligned frame; empty if it was not written
  std::string stem;     ///< the name of the frame's file without folder and extension

  [[nodiscard]] const char* status() const;  ///< "ok", "unreliable", "ambiguous" or "failed"
};

}  // namespace warpalign::program
