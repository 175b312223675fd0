// Resamples images and volumes by the transform of a deformable registration.
#include "commands/deformed.hpp"

#include "commands/finite_samples.hpp"

#include <warpalign/local_agreement.hpp>
#include <warpalign/stages/resample.hpp>

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

/// Finite samples at positions, an array for each axis.
Array resampled_at(const Device& device, const Array& moving, const PointGrid& grid,
                   const std::vector<std::int64_t>& extents, int degree,
                   const std::vector<float>& positions) {
  const std::size_t axes = extents.size();
  const Shape shape = moving.shape();
  ResamplePlan resample(device, {.spline = {.degree = degree, .boundary = Boundary::constant},
                                 .images = {.shape = shape, .dimensions = static_cast<int>(axes)},
                                 .output = grid.shape,
                                 .input = moving.type,
                                 .output_type = moving.type});
  Stream stream = device.make_stream();
  Image input = device.make_image(moving.type, shape);
  Image output = device.make_image(moving.type, grid.shape);
  Image coordinates = device.make_image(
      PixelType::f32,
      {grid.shape.width, grid.shape.height, grid.shape.depth * static_cast<std::int64_t>(axes)});
  stream.upload(moving.bytes.data(), moving.bytes.size(), input.buffer());
  stream.upload(positions.data(), positions.size() * sizeof(float), coordinates.buffer());
  resample.execute(stream, input, coordinates, output);
  Array aligned = make_array(extents, moving.type);
  stream.download(output, aligned.bytes.data(), aligned.bytes.size());
  return aligned;
}

}  // namespace

Array deformed(const Device& device, const Array& moving, const std::vector<std::int64_t>& extents,
               const Transform& transform) {
  const PointGrid grid = grid_of(extents);
  const std::size_t axes = extents.size();
  std::vector<float> positions(axes * static_cast<std::size_t>(grid.shape.pixels()));
  transform.positions(grid, components_of(positions.data(), axes, grid));
  Array finite = moving;
  remove_nonfinite(finite);
  Array aligned = resampled_at(device, finite, grid, extents, 3, positions);
  if (const auto marks = nonfinite_marks(moving)) {
    set_missing(aligned, resampled_at(device, *marks, grid, extents, 1, positions));
  }
  return aligned;
}

LoadedImage deformed(const Device& device, const LoadedImage& moving, const Shape& grid,
                     const Transform& transform) {
  std::vector<Array> channels = split_channels(moving);
  for (Array& channel : channels) {
    channel = deformed(device, channel, {grid.height, grid.width}, transform);
  }
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

std::vector<std::uint8_t> inside_moving(const std::vector<std::int64_t>& extents,
                                        const std::vector<std::int64_t>& moving,
                                        const Transform& transform) {
  const PointGrid grid = grid_of(extents);
  const std::size_t axes = extents.size();
  const auto pixels = static_cast<std::size_t>(grid.shape.pixels());
  std::vector<float> positions(axes * pixels);
  transform.positions(grid, components_of(positions.data(), axes, grid));
  std::vector<std::uint8_t> inside(pixels, 1);
  for (std::size_t a = 0; a < axes; ++a) {
    const auto last = static_cast<float>(moving[axes - 1 - a] - 1);
    for (std::size_t i = 0; i < pixels; ++i) {
      const float p = positions[a * pixels + i];
      if (!(p >= 0 && p <= last)) inside[i] = 0;
    }
  }
  return inside;
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
