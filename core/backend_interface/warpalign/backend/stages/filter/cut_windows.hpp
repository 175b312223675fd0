// Stage: apodized windows of frames, all of one size.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>
#include <warpalign/stages/sobel.hpp>
#include <warpalign/window.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace warpalign {

namespace backend {
class CutWindows;
}

/// The upper left pixel of a window.
struct WindowOrigin {
  std::int32_t x = 0, y = 0;
};

struct CutWindowsSpec {
  Shape frame;                        ///< of one frame; depth 1
  std::int64_t frames = 1;            ///< stacked along the depth
  std::vector<WindowOrigin> origins;  ///< of the windows of each frame, which lie within it
  Shape window;                       ///< depth 1
  /// Of a slice of the output, with the window in its middle, as ApodizePlan places it, and 0
  /// around it; 0 x 0: the window fills it.
  Shape padded{0, 0, 1};
  Window weights = Window::hann;
  Signal signal = Signal::pixels;  ///< gradient: of each window by itself
};

/// Which windows of all frames, in the order of the output's slices, an execution cuts.
struct WindowRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Window k of frame f is slice f windows + k of the output: (s - mean) w(x) w(y), where the signal
/// s is the pixels or their gradient, with the window's own mean of s where it is finite; where it
/// is not, it counts as the mean.
class WARPALIGN_API CutWindowsPlan {
 public:
  CutWindowsPlan(const Device& device, const CutWindowsSpec& spec);
  /// `frames`: f32, the frames stacked. `means` has room for a float for each window of all frames.
  void execute(Stream& stream, const Image& frames, Buffer& means, Image& windows) const;
  /// Some windows only: the first of them goes to slice 0, and its mean to the first float.
  void execute(Stream& stream, const Image& frames, const WindowRange& range, Buffer& means,
               Image& windows) const;

  /// The shape of all windows, stacked.
  [[nodiscard]] static Shape windows_shape(const CutWindowsSpec& spec) noexcept;

 private:
  Device device_;
  CutWindowsSpec spec_;
  std::shared_ptr<backend::CutWindows> kernel_;
  Buffer origins_, weights_;
};

}  // namespace warpalign

namespace warpalign::backend {

/// The shape of a slice of the output.
[[nodiscard]] inline Shape slice_of(const CutWindowsSpec& spec) noexcept {
  return spec.padded.width > 0 ? spec.padded : spec.window;
}

/// Into how many parts a backend divides the rows of a window. It does not depend on the number of
/// windows, so that a window's mean does not either.
[[nodiscard]] inline int parts_of_window(std::int64_t height) noexcept {
  constexpr std::int64_t rows = 16;
  return static_cast<int>((height + rows - 1) / rows);
}

class CutWindows : public Stage {
 public:
  using Setup = CutWindowsSpec;

  /// The origins are pairs of int32, the weights those of the columns and then those of the rows.
  virtual void enqueue(Queue& queue, const Memory& frames, const Memory& origins,
                       const Memory& weights, const WindowRange& range, Memory& means,
                       Memory& windows) = 0;
};

}  // namespace warpalign::backend
