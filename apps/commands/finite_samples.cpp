// Which types have samples that are not finite, and the removal of these.
#include "commands/finite_samples.hpp"

#include <warpalign/missing.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
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

std::optional<Array> nonfinite_marks(const Array& samples) {
  Array finite = samples;
  remove_nonfinite(finite);
  // Only samples that are not finite have changed.
  if (finite.bytes == samples.bytes) return {};
  const Array values = to_float(samples);
  Array marks = make_array(samples.extents, PixelType::f32);
  std::ranges::transform(values.samples<float>(), marks.samples<float>().begin(),
                         [](float value) { return std::isfinite(value) ? 0.0F : 1.0F; });
  return marks;
}

void set_missing(Array& samples, const Array& shares) {
  const auto missing = shares.samples<float>();
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (missing[i] <= 0.5F) continue;
    if (samples.type == PixelType::f32) samples.samples<float>()[i] = std::nanf("");
    if (samples.type == PixelType::f64) samples.samples<double>()[i] = std::nan("");
  }
}

}  // namespace warpalign::program
