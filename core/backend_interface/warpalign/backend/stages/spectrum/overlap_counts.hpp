// Stage: the overlap of two images at every shift, if one of them is a rectangle without a mask.
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
  std::int64_t batch = 1;  ///< number of weight images, stacked along the depth
  /// Whether the rectangle without a mask is image a. Otherwise it is image b.
  bool rectangle_is_first = true;
};

/// Computes the same correlations of weights as OverlapProductsPlan, sum_x a(x) b(x - d) and sum_x
/// a(x) b(d - x), if a or b is 1 in a rectangle that begins at pixel (0, 0) and 0 elsewhere. These
/// are sums over rectangles, which running sums compute exactly and without an FFT. Weights (f32)
/// are 0 to 1, rounded to multiples of 2^-12. Output (f32): both correlations times the number of
/// pixels, like an unnormalised inverse FFT; depth 2 for each image.
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

  /// `rectangle` is not empty, and not larger than the image.
  virtual void enqueue(Queue& queue, const Memory& weights, const Shape& rectangle,
                       Memory& overlaps) = 0;
};

}  // namespace warpalign::backend
