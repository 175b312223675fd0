// Stage: bilinear interpolation of complex data at arbitrary points, in the forms of the interview
// text "Bilinear interpolation in CUDA".
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

namespace warpalign {

namespace backend {
class ComplexBilinear;
}

enum class BilinearForm {
  global_memory,  ///< loads from memory
  texture_fetch,  ///< four unfiltered texture reads, fp32 arithmetic
  texture_filter  ///< the texture unit's own filtering, half-pixel offset (8 fractional bits)
};

struct ComplexBilinearSpec {
  Shape image;   ///< M1 x M2 of the c32 input; depth 1
  Shape output;  ///< N1 x N2 points; depth 1
  BilinearForm form = BilinearForm::global_memory;
};

/// Interpolates c32 data bilinearly (the text's equations 1 to 4) at points (x, y), given as two
/// f32 images of the output's shape. Neighbours outside [0, M1 - 1] x [0, M2 - 1] are 0 on every
/// side (the text's kernels do not check negative coordinates). Points that are NaN or infinite
/// give 0.
///
/// On devices without usable image filtering, which DeviceInfo::sampling reports, the texture forms
/// use loads from memory.
class WARPALIGN_API ComplexBilinearPlan {
 public:
  ComplexBilinearPlan(const Device& device, const ComplexBilinearSpec& spec);
  void execute(Stream& stream, const Image& image, const Image& x, const Image& y,
               Image& output) const;

 private:
  Device device_;
  ComplexBilinearSpec spec_;
  std::shared_ptr<backend::ComplexBilinear> kernel_;
};

}  // namespace warpalign

namespace warpalign::backend {

class ComplexBilinear : public Stage {
 public:
  using Setup = ComplexBilinearSpec;

  virtual void enqueue(Queue& queue, const Memory& image, const Memory& x, const Memory& y,
                       Memory& output) = 0;
};

}  // namespace warpalign::backend
