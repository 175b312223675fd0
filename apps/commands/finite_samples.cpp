// Which types have samples that are not finite, and the removal of these.
#include "commands/finite_samples.hpp"

#include <warpalign/missing.hpp>

#include <cmath>
#include <cstdint>

namespace warpalign::program {
namespace {

template <typename Sample>
void remove_nonfinite(Array& samples) {
  for (Sample& sample : samples.samples<Sample>()) {
    if (!std::isfinite(sample)) sample = 0;
  }
}

}  // namespace

bool is_integer(PixelType type) { return !can_hold(type, 0.5) && type != PixelType::c32; }

void remove_nonfinite(Array& samples) {
  constexpr unsigned half_exponent = 0x7C00;  // all ones: infinite or NaN
  if (samples.type == PixelType::f32) remove_nonfinite<float>(samples);
  if (samples.type == PixelType::f64) remove_nonfinite<double>(samples);
  if (samples.type != PixelType::f16) return;
  for (std::uint16_t& bits : samples.samples<std::uint16_t>()) {
    if ((bits & half_exponent) == half_exponent) bits = 0;
  }
}

}  // namespace warpalign::program
