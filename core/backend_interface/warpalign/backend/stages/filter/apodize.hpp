// Stage: windowing of an image and its placement in a padded frame.
#pragma once

#include <vector>
#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>
#include <warpalign/window.hpp>
#include <warpalign/stages/sobel.hpp>

namespace warpalign {

namespace backend {
class Apodize;
}

struct ApodizeSpec {
  Shape input;   ///< of the input; depth 1
  Shape padded;  ///< of the f32 output; at least as large as the input in each direction
  Window window = Window::hann;
  PixelType type = PixelType::f32;  ///< of the input: u8, u16 or f32
  Signal signal = Signal::pixels;
};

/// Computes padded(x + ox, y + oy) = (signal(x, y) - mean) w(x) w(y), and 0 elsewhere, with
/// (ox, oy) = floor((padded - input) / 2), see offset(). The signal is the input or its gradient.
/// The mean replaces values that are not finite.
class WARPALIGN_API ApodizePlan {
 public:
  ApodizePlan(const Device& device, const ApodizeSpec& spec);
  /// `statistics`: a StatisticsRecord of the signal on the device, which provides the mean.
  void execute(Stream& stream, const Image& input, const Buffer& statistics, Image& padded) const;

  /// The position of the input's pixel (0, 0) in the padded frame, as (x, y, 0).
  [[nodiscard]] static Shape offset(const ApodizeSpec& spec) noexcept;

 private:
  Device device_;
  ApodizeSpec spec_;
  std::shared_ptr<backend::Apodize> kernel_;
};

}  // namespace warpalign

namespace warpalign::backend {

/// The window's weight for each column (x) and each row (y) of the input.
struct WindowWeights {
  std::vector<float> x, y;
};

class Apodize : public Stage {
 public:
  struct Setup {
    const ApodizeSpec& spec;
    const WindowWeights& window;
  };

  virtual void enqueue(Queue& queue, const Memory& input, const Memory& statistics,
                       Memory& padded) = 0;
};

}  // namespace warpalign::backend
