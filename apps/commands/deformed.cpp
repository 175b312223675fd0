// Resamples images and volumes by the transform of a deformable registration.
#include "commands/deformed.hpp"

#include "commands/missing_samples.hpp"

#include <warpalign/local_agreement.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace warpalign::program {
namespace {

PointGrid grid_of(const std::vector<std::int64_t>& extents) {
  PointGrid grid;
  const std::size_t axes = extents.size();
  grid.shape = {extents[axes - 1], extents[axes - 2], axes == 3 ? extents[0] : 1};
  return grid;
}

/// An array for each axis, x first, one after the other.
std::vector<float*> components_of(float* first, std::size_t axes, const PointGrid& grid) {
  std::vector<float*> components;
  for (std::size_t a = 0; a < axes; ++a) {
    components.push_back(first + a * static_cast<std::size_t>(grid.shape.pixels()));
  }
  return components;
}

constexpr SplineModel deformed_spline{.boundary = Boundary::constant};

}  // namespace

Positions::Positions(const std::vector<std::int64_t>& extents, const Transform& transform)
    : extents_(extents) {
  const PointGrid grid = grid_of(extents);
  values_.resize(extents.size() * static_cast<std::size_t>(grid.shape.pixels()));
  transform.positions(grid, components_of(values_.data(), extents.size(), grid));
}

std::vector<std::uint8_t> Positions::inside(const std::vector<std::int64_t>& sampled) const {
  const std::size_t axes = extents_.size();
  const std::size_t pixels = values_.size() / axes;
  std::vector<std::uint8_t> inside(pixels, 1);
  for (std::size_t a = 0; a < axes; ++a) {
    const auto last = static_cast<float>(sampled[axes - 1 - a] - 1);
    for (std::size_t i = 0; i < pixels; ++i) {
      const float p = values_[a * pixels + i];
      if (!(p >= 0 && p <= last)) inside[i] = 0;
    }
  }
  return inside;
}

PositionSampler::PositionSampler(const Device& device, const std::vector<std::int64_t>& grid)
    : device_(device), grid_(grid), stream_(device.make_stream()) {
  const Shape shape = grid_of(grid).shape;
  const auto axes = static_cast<std::int64_t>(grid.size());
  coordinates_ =
      device_.make_image(PixelType::f32, {shape.width, shape.height, shape.depth * axes});
}

PositionSampler::Plan& PositionSampler::plan_of(const Array& array, PixelType result,
                                                const SplineModel& by) {
  const Shape shape = array.shape();
  const Key key{array.type,  result,       by.prefilter.has_value(),
                shape.width, shape.height, shape.depth};
  const auto found = plans_.find(key);
  if (found != plans_.end()) return found->second;
  const Shape output = grid_of(grid_).shape;
  const ResampleSpec spec{.spline = by,
                          .images = {.shape = shape, .dimensions = static_cast<int>(grid_.size())},
                          .output = output,
                          .input = array.type,
                          .output_type = result};
  return plans_
      .emplace(key, Plan{ResamplePlan(device_, spec), device_.make_image(array.type, shape),
                         device_.make_image(result, output)})
      .first->second;
}

Array PositionSampler::sampled(const Array& array, PixelType result, const SplineModel& by) {
  Plan& plan = plan_of(array, result, by);
  stream_.upload(array.bytes.data(), array.bytes.size(), plan.input.buffer());
  plan.resample.execute(stream_, plan.input, *coordinates_, plan.output);
  Array samples = make_array(grid_, result);
  stream_.download(plan.output, samples.bytes.data(), samples.bytes.size());
  return samples;
}

Array PositionSampler::sample(const Array& array, const Positions& positions,
                              std::optional<double> nodata) {
  stream_.upload(positions.values().data(), positions.values().size_bytes(),
                 coordinates_->buffer());
  return resample_known(
      array, nodata, deformed_spline.boundary,
      [&](const Array& samples) { return sampled(samples, array.type, deformed_spline); },
      [&](const Array& mask) {
        return sampled(mask, PixelType::f32, mask_spline(deformed_spline));
      });
}

LoadedImage PositionSampler::sample(const LoadedImage& image, const Positions& positions,
                                    std::optional<double> nodata) {
  std::vector<Array> channels = split_channels(image);
  for (Array& channel : channels) channel = sample(channel, positions, nodata);
  return join_channels(channels);
}

Array displacements(const std::vector<std::int64_t>& extents, const Transform& transform) {
  std::vector<std::int64_t> all{static_cast<std::int64_t>(extents.size())};
  all.insert(all.end(), extents.begin(), extents.end());
  Array array = make_array(all, PixelType::f32);
  const PointGrid grid = grid_of(extents);
  transform.field(grid, components_of(array.samples<float>().data(), extents.size(), grid));
  return array;
}

Array jacobians(const std::vector<std::int64_t>& extents, const Deformation& deformation) {
  const PointGrid grid = grid_of(extents);
  std::vector<double> determinants(static_cast<std::size_t>(grid.shape.pixels()));
  deformation.transform.members().front().jacobian(grid, determinants);
  Array array = make_array(extents, PixelType::f32);
  std::ranges::transform(determinants, array.samples<float>().begin(),
                         [](double value) { return static_cast<float>(value); });
  return array;
}

Array agreement(const Array& reference, const Array& aligned,
                const std::vector<std::uint8_t>& inside) {
  const Array fixed = to_float(reference);
  const Array warped = to_float(aligned);
  const std::vector<float> found = local_agreement(fixed.samples<float>(), warped.samples<float>(),
                                                   grid_of(reference.extents).shape, inside);
  Array array = make_array(reference.extents, PixelType::f32);
  std::ranges::copy(found, array.samples<float>().begin());
  return array;
}

}  // namespace warpalign::program
