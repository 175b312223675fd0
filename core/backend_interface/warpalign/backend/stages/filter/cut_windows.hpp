// Stage: apodized windows of frames, all of one size.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

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
};

/// Window k of frame f is slice f windows + k of the output: (p - mean) w(x) w(y), with the
/// window's own mean over its finite pixels and w(i) = sin^2(pi (i + 1/2) / n) (Hann); pixels that
/// are not finite count as the mean.
class WARPALIGN_API CutWindowsPlan {
 public:
  CutWindowsPlan(const Device& device, const CutWindowsSpec& spec);
  /// `frames`: f32, the frames stacked. `means` has room for a float for each window of all frames.
  void execute(Stream& stream, const Image& frames, Buffer& means, Image& windows) const;

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
                       const Memory& weights, Memory& means, Memory& windows) = 0;
};

}  // namespace warpalign::backend
