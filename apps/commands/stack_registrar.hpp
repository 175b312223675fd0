// Registers the frames of a stack one after the other, and maps each to the first.
#pragma once

#include "commands/frame_warper.hpp"
#include "commands/running_mean.hpp"
#include "io/image_file.hpp"
#include "reports/stack_frame.hpp"

#include <warpalign/registrar.hpp>

#include <optional>
#include <string>

namespace warpalign::program {

/// "first", "previous" or "mean". Throws UsageError.
[[nodiscard]] StackReference stack_reference_named(const std::string& name);

/// Keeps the reference between frames, never the frames themselves.
class StackRegistrar {
 public:
  /// `first`: the frame numbered 0. `mask`: as load_mask() makes them, the same for every frame.
  /// `warper` is used for the mean, and must outlive this. Throws warpalign::Error.
  StackRegistrar(const Device& device, const RegistrationOptions& options, StackReference to,
                 const LoadedImage& first, std::optional<LoadedImage> mask, FrameWarper& warper);

  /// Registers the next frame, which must have the first one's size. Throws warpalign::Error. If
  /// the frame's pixels are the reason, this object is left as if the frame had not been there.
  [[nodiscard]] FramePlace place(const LoadedImage& frame, std::size_t index);

  /// Takes a frame that an earlier run has registered reliably. After `needs_again()` of its
  /// frames, in their order, this object is as it was in that run.
  void take_again(const LoadedImage& frame, const FramePlace& place, std::size_t index);
  /// Whether frame `index` counts for frames that follow it, where `last` is the last reliable one
  /// before them.
  [[nodiscard]] bool needs_again(std::size_t index, std::size_t last) const;

 private:
  void set_reference(const LoadedImage& gray, const std::optional<LoadedImage>& mask);
  void take_reliable(const LoadedImage& frame, const LoadedImage& gray, const FramePlace& place,
                     std::size_t index);

  Registrar registrar_;
  StackReference to_;
  Shape shape_;
  std::optional<LoadedImage> mask_;
  FrameWarper& warper_;
  std::size_t reference_index_ = 0;
  Affine first_to_reference_;  ///< the identity, except for `previous`
  std::optional<RunningMean> mean_;
  bool mean_is_newer_ = false;  ///< than the reference that was made of it
};

}  // namespace warpalign::program
