// Stage: the local gain and offset between two registered images.
#include <warpalign/backend/stages/refinement/illumination.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/refinement/illumination_limits.hpp"
#include "stages/refinement/similarity_images.hpp"

#include <cmath>
#include <vector>

namespace warpalign {

namespace {

constexpr const char* illumination_stage = "illumination";
constexpr double max_cells = 8;  // standard deviations of the Gaussian, in cells

detail::ComparedPair pair_of(const IlluminationSpec& spec) {
  return {illumination_stage, spec.reference, spec.moving,    spec.reference_margin,
          spec.moving_margin, spec.masked,    spec.projective};
}

IlluminationSpec checked(const IlluminationSpec& spec) {
  detail::check_pair(pair_of(spec));
  if (spec.cell < 2 || spec.cell > max_illumination_cell) {
    detail::refuse(illumination_stage, "the side of the cells must be 2 to 64 pixels");
  }
  if (!(spec.sigma > 0) || spec.sigma > max_cells * spec.cell) {
    detail::refuse(illumination_stage, "sigma must be above 0 and at most eight cells");
  }
  return spec;
}

// A Gaussian over cells, truncated at 3 sigma; not normalised, because the fit is a ratio.
std::vector<float> cell_weights(const IlluminationSpec& spec) {
  const double sigma = spec.sigma / spec.cell;
  const auto reach = static_cast<int>(std::ceil(3 * sigma));
  std::vector<float> weights;
  for (int i = 0; i <= reach; ++i) {
    weights.push_back(static_cast<float>(std::exp(-i * i / (2 * sigma * sigma))));
  }
  return weights;
}

void check_prior(const IlluminationPrior& prior) {
  for (const double number : {prior.gain, prior.reference, prior.moving, prior.strength}) {
    if (!std::isfinite(number))
      detail::refuse(illumination_stage, "the prior contains NaN or infinity");
  }
  if (!(prior.strength > 0))
    detail::refuse(illumination_stage, "the prior's strength must be above 0");
}

}  // namespace

IlluminationPlan::IlluminationPlan(const Device& device, const IlluminationSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(
          backend::Illumination::Setup{spec, cell_weights(spec)})) {}

Shape IlluminationPlan::field_shape(const Shape& reference, int cell) {
  return {(reference.width + cell - 1) / cell, (reference.height + cell - 1) / cell, 1};
}

void IlluminationPlan::execute(Stream& stream, const SimilarityImages& images,
                               const Homography& matrix, const IlluminationPrior& prior,
                               Image& field) const {
  detail::check_stream(illumination_stage, device_, stream);
  detail::check_images(pair_of(spec_), device_, images);
  detail::check_image(illumination_stage, "the field", device_, field, PixelType::c32,
                      field_shape(spec_.reference, spec_.cell));
  detail::check_matrix(pair_of(spec_), matrix);
  check_prior(prior);
  kernel_->enqueue(detail::Access::queue(stream), detail::memory_of(images),
                   detail::normalized(matrix, spec_.reference), prior,
                   detail::Access::memory(field));
}

}  // namespace warpalign
