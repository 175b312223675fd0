// Stage: what two images have in common, in frames of zeros, and how its texture is spread.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace warpalign {

namespace backend {
class CommonFrames;
}
namespace detail {
template <class Record>
class LaterResults;
}

struct CommonFramesSpec {
  Shape frame;               ///< of the frames that are written; depth 1
  std::int64_t results = 1;  ///< the sums of how many executions are kept
};

/// Images (f32), one channel each; those of a second channel, or none. The reference's and its
/// weight have one shape, and the moving image's and its weight.
struct CommonImages {
  std::span<const Image*const> reference, moving;  ///< one or two channels
  const Image* reference_weight;                   ///< null: all pixels count
  const Image& moving_weight;
};

/// What is compared: pixel (x + i, y + j) of the reference lies on pixel (i, j) of the moving
/// image.
struct CommonPart {
  Shape shape;         ///< depth 1
  std::int64_t x = 0;  ///< of its corner in the reference
  std::int64_t y = 0;
};

/// The local energy of an image at a pixel is the sum of the squares of what is in common, less its
/// mean, over the square of 17 x 17 pixels about it, and over both channels.
struct CommonSums {
  double pixels = 0;     ///< in common
  double reference = 0;  ///< sum of the reference's local energy over the part's pixels
  double moving = 0;     ///< that of the moving image's
  double both = 0;       ///< that of the product of both energies
};

/// A pixel of the part is in common where both weights are above 0.5. Each frame (f32, a slice for
/// each channel) has there the image less its mean over such pixels, and 0 elsewhere. Of two
/// channels the reference's are turned first, as the cosine and the sine of an angle turn that
/// grows by `turned` radians. Sums are those of work groups, in single precision, which the host
/// adds up in double precision: the same bits at every execution. The sum of the products of
/// energies must not exceed what a float holds.
class WARPALIGN_API CommonFramesPlan {
 public:
  CommonFramesPlan(const Device& device, const CommonFramesSpec& spec);
  /// The part lies in both images, and is not larger than the frame. Its frames are number `place`
  /// of those that the images of frames have room for along their depth. Sums become result number
  /// `result`.
  void enqueue(Stream& stream, const CommonImages& images, const CommonPart& part, double turned,
               Image& reference, Image& moving, std::int64_t result = 0,
               std::int64_t place = 0) const;
  /// Has all results copied to the host, once for all executions before.
  void enqueue_copy(Stream& stream) const;
  /// Waits for the copy.
  [[nodiscard]] CommonSums wait(std::int64_t result = 0) const;

 private:
  Device device_;
  CommonFramesSpec spec_;
  std::shared_ptr<backend::CommonFrames> kernel_;
  std::shared_ptr<detail::LaterResults<float>> partials_;
};

}  // namespace warpalign

namespace warpalign::backend {

/// The number of sums of one work group: the members of warpalign::CommonSums.
inline constexpr std::size_t common_sum_count = 4;

/// Of images with one channel, the second ones are the first ones. Where all pixels of the
/// reference count, its weight is the moving image's.
struct CommonFramesMemory {
  const Memory& reference;
  const Memory& reference_second;
  const Memory& moving;
  const Memory& moving_second;
  const Memory& reference_weight;
  const Memory& moving_weight;
  Memory& reference_frames;
  Memory& moving_frames;
};

/// Where an image holds the part.
struct CommonSource {
  std::int64_t pitch;  ///< pixels of a row
  std::int64_t first;  ///< number of the part's first pixel
  std::int64_t size;   ///< pixels from that one on
};

struct CommonFramesTerms {
  Shape part;  ///< not larger than the images or the frame
  CommonSource reference, reference_weight, moving;
  int channels;              ///< 1 or 2
  float cosine, sine;        ///< of the angle by which the reference's channels are turned
  std::int64_t first_slice;  ///< of the frames that are written
};

class CommonFrames : public Stage {
 public:
  using Setup = CommonFramesSpec;

  /// The number of work groups, each of which writes its own sums: sum i of group g of an execution
  /// is stored at (result common_sum_count + i) groups() + g.
  [[nodiscard]] virtual std::size_t groups() const noexcept = 0;
  virtual void enqueue(Queue& queue, const CommonFramesMemory& memory,
                       const CommonFramesTerms& terms, std::int64_t result, Memory& partials) = 0;
};

}  // namespace warpalign::backend
