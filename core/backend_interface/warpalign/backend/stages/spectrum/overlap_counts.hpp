// Stage: how many pixels two images have in common at every shift, where all pixels of one count.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <cstdint>
#include <memory>

namespace warpalign {

namespace backend {
class OverlapCounts;
}

struct OverlapCountsSpec {
  Shape image;             ///< of the weights of one image; at most 512 x 512, depth 1
  std::int64_t batch = 1;  ///< how many images' weights are given, stacked along the depth
  /// Which of the two images all pixels of a rectangle count of: a, or else b.
  bool rectangle_is_first = true;
};

/// The correlations of weights that OverlapProductsPlan would lead to, sum_x a(x) b(x - d) and
/// sum_x a(x) b(d - x), where a or b is 1 in a rectangle that begins at pixel (0, 0) and 0
/// elsewhere: sums over rectangles, which running sums find exactly, without a transform. Weights
/// (f32) are from 0 to 1 and are rounded to multiples of 2^-12. Output (f32): the two, times the
/// number of pixels, as inverse transforms leave them; depth 2 for each image.
class WARPALIGN_API OverlapCountsPlan {
 public:
  OverlapCountsPlan(const Device& device, const OverlapCountsSpec& spec);
  void execute(Stream& stream, const Image& weights, const Shape& rectangle, Image& overlaps) const;

 private:
  Device device_;
  OverlapCountsSpec spec_;
  std::shared_ptr<backend::OverlapCounts> kernel_;
};

}  // namespace warpalign

namespace warpalign::backend {

/// The largest extent along either axis.
inline constexpr std::int64_t max_overlap_counts_extent = 512;

class OverlapCounts : public Stage {
 public:
  using Setup = OverlapCountsSpec;

  /// The rectangle is not empty, and no larger than the image.
  virtual void enqueue(Queue& queue, const Memory& weights, const Shape& rectangle,
                       Memory& overlaps) = 0;
};

}  // namespace warpalign::backend
