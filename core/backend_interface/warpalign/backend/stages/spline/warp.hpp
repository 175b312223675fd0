// Stage: bilinear resampling of an image under an affine transform.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>

#include <cstdint>
#include <memory>
#include <span>

namespace warpalign {

namespace backend {
class Warp;
}

struct WarpSpec {
  Shape input;              ///< of the f32 input; depth 1
  Shape output;             ///< of the f32 output, or of one slice of it; depth 1
  std::int64_t slices = 1;  ///< number of slices of the output
  /// Whether every pixel of the input is 1. A backend then need not read it.
  bool unit_input = false;
};

/// Computes output(p) = input(output_to_input(p)) by bilinear interpolation; neighbours outside the
/// input are 0. CUDA uses the texture unit if the device's `sampling` is `texture` (coordinates
/// then have 8 fractional bits on most GPUs), and otherwise loads from memory and single-precision
/// arithmetic.
class WARPALIGN_API WarpPlan {
 public:
  WarpPlan(const Device& device, const WarpSpec& spec);
  void execute(Stream& stream, const Image& input, const Affine& output_to_input, Image& output,
               std::int64_t slice = 0) const;
  /// The same with several transforms, each to its own slice, from `first_slice` on.
  void execute(Stream& stream, const Image& input, std::span<const Affine> output_to_input,
               Image& output, std::int64_t first_slice = 0) const;

 private:
  Device device_;
  WarpSpec spec_;
  std::shared_ptr<backend::Warp> kernel_;
};

}  // namespace warpalign

namespace warpalign::backend {

class Warp : public Stage {
 public:
  using Setup = WarpSpec;

  /// One or more transforms, each for one slice of the output, from `first_slice` on.
  virtual void enqueue(Queue& queue, const Memory& input, std::span<const Affine> output_to_input,
                       Memory& output, std::int64_t first_slice) = 0;
};

}  // namespace warpalign::backend
