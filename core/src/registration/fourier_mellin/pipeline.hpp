// The Fourier-Mellin pipeline (option `fast`): one padded frame, one peak, no refinement.
#pragma once

#include "registration/fourier_mellin/gradient_source.hpp"
#include "registration/fourier_mellin/padded_frame.hpp"
#include "registration/resources/stage_clock.hpp"

#include <warpalign/registrar.hpp>

#include <array>
#include <optional>

namespace warpalign::detail {

class FourierMellinPipeline {
 public:
  FourierMellinPipeline(const Device& device, const RegistrationOptions& options)
      : device_(device), options_(options) {}

  /// Like Registrar::set_reference; Pixels is HostImage or Image.
  template <class Pixels>
  void set_reference(Stream& stream, StageClock& clock, const Pixels& pixels, PixelType type);
  /// Like Registrar::align.
  template <class Pixels>
  RegistrationResult align(Stream& stream, StageClock& clock, const Pixels& pixels, PixelType type);

 private:
  void prepare_frame(Stream& stream, StageClock& clock, const Shape& moving);
  void transform_reference(Stream& stream, StageClock& clock);
  RegistrationResult result_of(const RotationScale& rotation_scale,
                               const std::array<Shift, 2>& shifts) const;

  Device device_;
  RegistrationOptions options_;
  std::optional<GradientSource> reference_;
  std::optional<GradientSource> moving_;
  std::optional<PaddedFrame> frame_;
  bool frame_has_reference_ = false;
  Shape last_moving_{};
};

}  // namespace warpalign::detail
