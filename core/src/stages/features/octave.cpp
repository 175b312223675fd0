// Stage: octaves of the scale spaces of several images.
#include <warpalign/backend/stages/features/octave.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/features/packed_planes.hpp"
#include "stages/uploaded.hpp"

#include <cmath>
#include <limits>

namespace warpalign {

namespace {

constexpr const char* octave_stage = "octave";
constexpr double max_sigma = 32;

OctaveSpec checked(const OctaveSpec& spec) {
  if (spec.step < 1) detail::refuse(octave_stage, "the step must be at least 1");
  if (spec.sigmas.empty()) detail::refuse(octave_stage, "an octave needs at least one image");
  for (const double sigma : spec.sigmas) {
    if (!(sigma >= 0 && sigma <= max_sigma)) {
      detail::refuse(octave_stage, "each sigma must be 0 to 32 pixels");
    }
  }
  detail::check_planes(octave_stage, spec.planes, 1);
  detail::check_planes(octave_stage, OctavePlan::planes_of(spec),
                       static_cast<std::int64_t>(spec.sigmas.size()));
  return spec;
}

void add_gaussian(double sigma, std::vector<float>& weights) {
  const int radius = backend::octave_radius(sigma);
  std::vector<double> gaussian;
  double sum = 0;
  for (int i = -radius; i <= radius; ++i) {
    const double x = radius > 0 ? i / sigma : 0;
    gaussian.push_back(std::exp(-x * x / 2));
    sum += gaussian.back();
  }
  for (const double weight : gaussian) weights.push_back(static_cast<float>(weight / sum));
}

std::vector<float> weights_of(const OctaveSpec& spec) {
  std::vector<float> weights;
  for (const double sigma : spec.sigmas) add_gaussian(sigma, weights);
  return weights;
}

}  // namespace

int backend::octave_radius(double sigma) noexcept { return static_cast<int>(std::ceil(3 * sigma)); }

OctavePlan::OctavePlan(const Device& device, const OctaveSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(spec)),
      source_planes_(detail::uploaded(device, detail::words_of(spec.planes))),
      planes_(detail::uploaded(device, detail::words_of(planes_of(spec)))),
      weights_(detail::uploaded(device, weights_of(spec))) {}

std::vector<Shape> OctavePlan::planes_of(const OctaveSpec& spec) {
  return backend::every_step(spec.planes, spec.step, spec.step);
}

std::size_t OctavePlan::bytes_of(const OctaveSpec& spec) {
  std::int64_t pixels = 0;
  for (const Shape& plane : spec.planes) {
    pixels += backend::every_step(plane, spec.step, spec.step).plane();
  }
  return static_cast<std::size_t>(pixels) * spec.sigmas.size() * sizeof(float);
}

std::size_t OctavePlan::bytes_between(const OctaveSpec& spec) {
  return detail::packed_bytes(spec.planes, 1);
}

void OctavePlan::execute(Stream& stream, const Buffer& source, std::int64_t image, Buffer& between,
                         Buffer& octave) const {
  detail::check_stream(octave_stage, device_, stream);
  if (image < 0 || image >= std::numeric_limits<std::int32_t>::max()) {
    detail::refuse(octave_stage, "the source has no image " + std::to_string(image));
  }
  detail::check_planes(octave_stage, spec_.planes, image + 1);
  detail::check_buffer(octave_stage, "the source", device_, source,
                       detail::packed_bytes(spec_.planes, image + 1));
  detail::check_buffer(octave_stage, "the scratch buffer", device_, between, bytes_between(spec_));
  detail::check_buffer(octave_stage, "the octave", device_, octave, bytes_of(spec_));
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(source), image,
                   {detail::Access::memory(source_planes_), detail::Access::memory(planes_),
                    detail::Access::memory(weights_), detail::Access::memory(between)},
                   detail::Access::memory(octave));
}

}  // namespace warpalign
