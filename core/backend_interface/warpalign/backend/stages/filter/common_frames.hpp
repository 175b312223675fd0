// Stage: copies the overlap of two images to zero-padded frames, and sums its local energy.
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
class AsyncResults;
}

struct CommonFramesSpec {
  Shape frame;               ///< of the frames that are written; depth 1
  std::int64_t results = 1;  ///< number of executions whose sums the plan keeps
};

/// The f32 images of one or two channels, and their weights. An image has the shape of its weight.
struct CommonImages {
  std::span<const Image*const> reference, moving;  ///< one or two channels
  const Image* reference_weight;                   ///< null: no mask
  const Image& moving_weight;
};

/// The overlap: pixel (x + i, y + j) of the reference corresponds to pixel (i, j) of the moving
/// image.
struct OverlapRegion {
  Shape shape;         ///< depth 1
  std::int64_t x = 0;  ///< its upper left corner in the reference
  std::int64_t y = 0;
};

/// Sums of the local energy. The local energy at a pixel is the sum, over the surrounding 17 x 17
/// pixels and both channels, of the squares of the overlapping image minus its mean.
struct CommonSums {
  double pixels = 0;     ///< number of pixels in the overlap
  double reference = 0;  ///< sum of the reference's local energy over the part's pixels
  double moving = 0;     ///< the same of the moving image
  double both = 0;       ///< sum of the product of both energies
};

/// Writes each image minus its mean over the overlap to a frame (f32, one slice per channel), and 0
/// outside the overlap. A pixel of the part belongs to the overlap if both weights are above 0.5.
/// If there are two channels, the cosine and sine of an angle, the reference's angle is first
/// increased by `rotation` radians. Work groups sum in single precision and the host adds their
/// sums in double precision, so that every execution gives the same bits. The sum of the products
/// of energies must fit into a float.
class WARPALIGN_API CommonFramesPlan {
 public:
  CommonFramesPlan(const Device& device, const CommonFramesSpec& spec);
  /// The part must lie in both images, and must not be larger than the frame. `frame_index` is the
  /// index of the frames along the depth of the output images. `result` is the index of the sums.
  void enqueue(Stream& stream, const CommonImages& images, const OverlapRegion& part,
               double rotation, Image& reference, Image& moving, std::int64_t result = 0,
               std::int64_t frame_index = 0) const;
  /// Enqueues a copy of all results to the host, after the last execution.
  void enqueue_copy(Stream& stream) const;
  /// Waits for the copy and returns the sums with this index.
  [[nodiscard]] CommonSums wait(std::int64_t result = 0) const;

 private:
  Device device_;
  CommonFramesSpec spec_;
  std::shared_ptr<backend::CommonFrames> kernel_;
  std::shared_ptr<detail::AsyncResults<float>> partials_;
};

}  // namespace warpalign

namespace warpalign::backend {

/// The number of sums of one work group: the members of warpalign::CommonSums.
inline constexpr std::size_t common_sum_count = 4;

/// For images with one channel, the second images equal the first ones. If the reference has no
/// mask, its weight is that of the moving image.
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

/// The position of the part in an image.
struct CommonSource {
  std::int64_t pitch;  ///< pixels of a row
  std::int64_t first;  ///< number of the part's first pixel
  std::int64_t size;   ///< number of pixels from the first one on
};

struct CommonFramesTerms {
  Shape part;  ///< not larger than the images or the frame
  CommonSource reference, reference_weight, moving;
  int channels;              ///< 1 or 2
  float cosine, sine;        ///< of the angle by which the reference's channels are rotated
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
