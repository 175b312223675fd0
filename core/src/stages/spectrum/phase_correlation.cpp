// Stage: phase correlation, which consists of four other stages.
#include <warpalign/stages/phase_correlation.hpp>

#include "device/check.hpp"
#include "device/readback.hpp"
#include "registration/numerics/plane_geometry.hpp"

#include <warpalign/backend/stages/spectrum/cross_power.hpp>
#include <warpalign/backend/stages/spectrum/peak.hpp>
#include <warpalign/stages/fft.hpp>

#include <cmath>

namespace warpalign {

namespace {

constexpr const char* phase_correlation_stage = "phase_correlation";

PhaseCorrelationSpec checked(const PhaseCorrelationSpec& spec) {
  if (spec.shape.depth != 1) {
    detail::refuse(phase_correlation_stage,
                   "phase correlation requires depth 1; use VolumeRegistrar for volumes");
  }
  return spec;
}

}  // namespace

struct PhaseCorrelationPlan::Steps {
  Steps(const Device& on, const PhaseCorrelationSpec& spec)
      : device(on),
        shape(checked(spec).shape),
        power_spec{shape, spec.sigma, false},
        fft(device, {shape}),
        power(device, power_spec),
        peak(device, {shape}),
        reference(device.make_image(PixelType::c32, RealFftPlan::half_spectrum(shape))),
        moving(device.make_image(PixelType::c32, reference.shape())),
        product(device.make_image(PixelType::c32, reference.shape())),
        record(device.make_buffer(sizeof(PeakRecord))),
        found(device) {}

  Device device;
  Shape shape;
  CrossPowerSpec power_spec;
  RealFftPlan fft;
  CrossPowerPlan power;
  PeakPlan peak;
  Image reference, moving, product;  // spectra
  Buffer record;
  detail::Readback<PeakRecord> found;
  bool executed = false;
};

PhaseCorrelationPlan::PhaseCorrelationPlan(const Device& device, const PhaseCorrelationSpec& spec)
    : steps_(std::make_unique<Steps>(device, spec)) {}
PhaseCorrelationPlan::PhaseCorrelationPlan(PhaseCorrelationPlan&&) noexcept = default;
PhaseCorrelationPlan& PhaseCorrelationPlan::operator=(PhaseCorrelationPlan&&) noexcept = default;
PhaseCorrelationPlan::~PhaseCorrelationPlan() = default;

void PhaseCorrelationPlan::execute(Stream& stream, const Image& reference, const Image& moving,
                                   Image& surface) const {
  Steps& s = *steps_;
  detail::check_stream(phase_correlation_stage, s.device, stream);
  detail::check_image(phase_correlation_stage, "the reference", s.device, reference, PixelType::f32,
                      s.shape);
  detail::check_image(phase_correlation_stage, "the moving image", s.device, moving, PixelType::f32,
                      s.shape);
  detail::check_image(phase_correlation_stage, "the surface", s.device, surface, PixelType::f32,
                      s.shape);
  detail::check_distinct(phase_correlation_stage, reference, surface);
  detail::check_distinct(phase_correlation_stage, moving, surface);
  s.fft.forward(stream, reference, s.reference);
  s.fft.forward(stream, moving, s.moving);
  s.power.execute(stream, s.reference, s.moving, s.product);
  s.fft.inverse(stream, s.product, surface);
  s.peak.execute(stream, surface, s.record);
  s.found.enqueue(stream, s.record);
  s.executed = true;
}

CorrelationPeak PhaseCorrelationPlan::find_peak() const {
  Steps& s = *steps_;
  if (!s.executed) detail::refuse(phase_correlation_stage, "call execute() before find_peak()");
  const PeakRecord record = s.found.wait()[0];
  const Point at = subpixel_position(record);
  const auto value = static_cast<double>(record.value);
  return {{detail::signed_shift(at.x, static_cast<double>(s.shape.width)),
           detail::signed_shift(at.y, static_cast<double>(s.shape.height))},
          value / CrossPowerPlan::total_weight(s.power_spec),
          value / std::sqrt(CrossPowerPlan::total_squared_weight(s.power_spec))};
}

}  // namespace warpalign
