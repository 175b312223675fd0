// Stage: extraction of apodized windows of the same size from frames.
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
  std::int64_t frames = 1;            ///< number of frames, stacked along the depth
  std::vector<WindowOrigin> origins;  ///< of the windows of each frame, which lie within it
  Shape window;                       ///< shape of a window; depth 1
  /// Shape of a slice of the output, which is 0 around the centred window (see ApodizePlan). 0 x 0:
  /// the shape of the window.
  Shape padded{0, 0, 1};
  Window weights = Window::hann;
  Signal signal = Signal::pixels;  ///< gradient: computed from each window separately
};

/// A range of the windows of all frames, in the order of the output's slices.
struct WindowRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Writes window k of frame f to slice f windows + k of the output: (s - mean) w(x) w(y), where the
/// signal s is the pixels or their gradient, and the mean is that of the window's finite values.
/// The mean replaces values that are not finite.
class WARPALIGN_API CutWindowsPlan {
 public:
  CutWindowsPlan(const Device& device, const CutWindowsSpec& spec);
  /// `frames`: the stacked frames, f32. `means` receives one float for each window of all frames.
  void execute(Stream& stream, const Image& frames, Buffer& means, Image& windows) const;
  /// The same for a range of windows. The first of them becomes slice 0, and its mean the first
  /// float.
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

/// The number of parts that a backend divides the rows of a window into. It is independent of the
/// number of windows, so that the mean of a window is, too.
[[nodiscard]] inline int parts_of_window(std::int64_t height) noexcept {
  constexpr std::int64_t rows = 16;
  return static_cast<int>((height + rows - 1) / rows);
}

class CutWindows : public Stage {
 public:
  using Setup = CutWindowsSpec;

  /// The origins are pairs of int32. The weights are those of the columns, followed by those of the
  /// rows.
  virtual void enqueue(Queue& queue, const Memory& frames, const Memory& origins,
                       const Memory& weights, const WindowRange& range, Memory& means,
                       Memory& windows) = 0;
};

}  // namespace warpalign::backend
