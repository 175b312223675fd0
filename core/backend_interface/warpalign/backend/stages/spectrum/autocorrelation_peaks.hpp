// Stage: the shifts at which an image resembles itself.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <cstdint>
#include <memory>

namespace warpalign {

namespace backend {
class AutocorrelationPeaks;
}

struct AutocorrelationPeaksSpec {
  Shape image;  ///< the image's shape; depth 1
  /// The surface's shape; depth 1. Each side is at least one and a half of the image's plus two
  /// pixels, so that the shifts that count do not wrap.
  Shape surface;
  std::int64_t images = 1;  ///< number of images, whose surfaces are stacked along the depth
};

/// Finds how much an image resembles itself at other shifts, from its autocorrelation: the
/// correlation of the zero-padded image with itself, with shift (0, 0) at pixel (0, 0). The
/// coefficient of a shift d is C(d) / N(d) divided by C(0) / N(0), where N is the number of pixels
/// that the image and its shifted copy have in common.
class WARPALIGN_API AutocorrelationPeaksPlan {
 public:
  AutocorrelationPeaksPlan(const Device& device, const AutocorrelationPeaksSpec& spec);
  /// The number of rows of shifts of an image: those of 0 to half its height.
  [[nodiscard]] std::int64_t rows() const { return spec_.image.height / 2 + 1; }
  /// Writes for each row of shifts, up to half the image's width to either side, the highest
  /// coefficient of those that no neighbour exceeds, without (0, 0) and its neighbours; 0 if all
  /// are negative or there is none, or if C(0) is not positive. `surfaces`: f32, one for each
  /// image. `peaks`: rows() floats for each image.
  void execute(Stream& stream, const Image& surfaces, Buffer& peaks) const;

 private:
  Device device_;
  AutocorrelationPeaksSpec spec_;
  std::shared_ptr<backend::AutocorrelationPeaks> kernel_;
};

}  // namespace warpalign

namespace warpalign::backend {

class AutocorrelationPeaks : public Stage {
 public:
  using Setup = AutocorrelationPeaksSpec;

  virtual void enqueue(Queue& queue, const Memory& surfaces, Memory& peaks) = 0;
};

}  // namespace warpalign::backend
