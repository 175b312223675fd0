// Registers a stack's frames, one after the other, and says where the first frame's pixels are.
#pragma once

#include "frame_warper.hpp"
#include "image_io/image_file.hpp"
#include "running_mean.hpp"

#include <warpalign/registrar.hpp>

#include <optional>
#include <string>

namespace warpalign::program {

/// What a frame is registered to.
enum class StackReference {
  first,
  previous,  ///< the last frame before it that was registered reliably
  mean       ///< the mean of the frames before it that were, on the first frame's grid
};

/// "first", "previous" or "mean". Throws UsageError.
[[nodiscard]] StackReference stack_reference_named(const std::string& name);
/// The reverse.
[[nodiscard]] const char* name_of(StackReference reference);

/// A frame's place: `matrix` and `similarity` lead from the first frame, everything else is that of
/// the registration to `reference`.
struct FramePlace : Registered {
  bool reliable = false;
  std::optional<std::size_t> reference;  ///< its index; none for the first frame and for a mean
};

/// Keeps the reference between frames, never the frames themselves.
class StackRegistrar {
 public:
  /// `first`: the frame numbered 0. `mask`: as load_mask() makes them, the same for every frame.
  /// `warper` is used for the mean, and must outlive this. Throws warpalign::Error.
  StackRegistrar(const Device& device, const RegistrationOptions& options, StackReference to,
                 const LoadedImage& first, std::optional<LoadedImage> mask, FrameWarper& warper);

  /// Of the next frame, which must have the first one's size. Throws warpalign::Error; one for bad
  /// pixels leaves everything as if the frame had not been there.
  [[nodiscard]] FramePlace place(const LoadedImage& frame, std::size_t index);

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
  Affine first_to_reference_;  ///< the identity but for `previous`
  std::optional<RunningMean> mean_;
};

}  // namespace warpalign::program
