// Measures transforms whose fields lie on a device: median device times of grids and points that
// are mapped, and of volumes that are warped by them. Not a test; docs/performance-notes.md records
// what it printed.
//
//   measure_transforms device [side 256]
//   e.g. measure_transforms cuda:0
#include "measurement.hpp"

#include <warpalign/device_transform.hpp>
#include <warpalign/stages/convert.hpp>
#include <warpalign/stages/resample.hpp>
#include <warpalign/transform_warp.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

using warpalign::DeviceTransform;
using warpalign::HomogeneousMatrix;
using warpalign::Image;
using warpalign::PixelType;
using warpalign::PointGrid;
using warpalign::Shape;
using warpalign::Stream;
using warpalign::Transform;

constexpr int runs = 15;
constexpr std::int64_t num_points = 1'000'000;

double median_of(Stream& stream, const std::function<void()>& work) {
  for (int i = 0; i < 2; ++i) work();
  stream.finish();
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    const warpalign::Mark before = stream.mark();
    work();
    const warpalign::Mark after = stream.mark();
    stream.finish();
    times.push_back(stream.milliseconds_between(before, after));
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void report(const char* what, double time) {
  std::printf("  %-58s %9.4f ms\n", what, time);
  std::fflush(stdout);
}

/// A field of waves of up to 8 voxels, whose derivatives are at most 0.6.
Transform smooth_field(const Shape& shape) {
  std::array<std::vector<float>, 3> components;
  for (std::int64_t i = 0; i < shape.pixels(); ++i) {
    const auto x = static_cast<double>(i % shape.width);
    const auto y = static_cast<double>(i / shape.width % shape.height);
    const auto z = static_cast<double>(i / shape.plane());
    components[0].push_back(static_cast<float>(8 * std::sin(y / 25) * std::cos(z / 31)));
    components[1].push_back(static_cast<float>(8 * std::sin(z / 27) * std::cos(x / 29)));
    components[2].push_back(static_cast<float>(8 * std::sin(x / 26) * std::cos(y / 33)));
  }
  const std::array<const float*, 3> pointers{components[0].data(), components[1].data(),
                                             components[2].data()};
  return Transform::displacement(PointGrid{.shape = shape}, pointers);
}

void measure(const std::string& name, std::int64_t side) {
  const warpalign::Device device = warpalign::open_device(name);
  Stream stream = device.make_stream(true);
  const Shape shape{side, side, side};
  const PointGrid grid{.shape = shape};
  const Transform field = smooth_field(shape);
  HomogeneousMatrix m;
  m.m = {0.98, 0.1, 0.02, 3, -0.1, 0.97, 0.03, 5, 0.01, -0.02, 1.01, -2, 0, 0, 0, 1};
  const Transform affine = Transform::of_matrix(warpalign::TransformKind::affine, 3, m);
  const DeviceTransform by_field(device, field);
  const DeviceTransform by_inverse(device, field.inverse());
  const DeviceTransform by_chain(device, affine * field * affine);
  const Shape all{side, side, 3 * side};
  Image positions = device.make_image(PixelType::f64, all);
  Image singles = device.make_image(PixelType::f32, all);
  std::printf("%s, %lld voxels a side\n", device.info().name.c_str(), static_cast<long long>(side));
  report("positions by a field",
         median_of(stream, [&] { by_field.positions(stream, grid, positions); }));
  report("the inverse of a field",
         median_of(stream, [&] { by_inverse.field(stream, grid, positions); }));

  Image points = device.make_image(PixelType::f64, {3 * num_points, 1, 1});
  std::vector<double> coordinates(static_cast<std::size_t>(3 * num_points));
  for (std::size_t i = 0; i < coordinates.size(); ++i)
    coordinates[i] =
        std::fmod(static_cast<double>(i) * 0.6180339887, 1.0) * static_cast<double>(side - 1);
  stream.upload(coordinates.data(), coordinates.size() * sizeof(double), points.buffer());
  report("a million points by a field", median_of(stream, [&] {
           by_field.points(stream, points, num_points, 0, {3, 1});
         }));

  std::vector<float> voxels;
  for (std::int64_t i = 0; i < shape.pixels(); ++i)
    voxels.push_back(static_cast<float>((i * 2654435761) % 1000));
  Image image = device.make_image(PixelType::f32, shape);
  Image output = device.make_image(PixelType::f32, shape);
  stream.upload(voxels.data(), voxels.size() * sizeof(float), image.buffer());
  warpalign::ResampleSpec spec;
  spec.images.shape = spec.output = shape;
  spec.images.dimensions = 3;
  spec.spline.boundary = warpalign::Boundary::constant;
  warpalign::ResamplePlan resample(device, spec);
  warpalign::TransformWarpPlan in_one_kernel(device, spec);
  const warpalign::ConvertPlan to_single(device, {all, PixelType::f64, PixelType::f32});
  const auto warp = [&](const DeviceTransform& transform) {
    return median_of(stream, [&] { in_one_kernel.execute(stream, image, transform, output); });
  };
  const double plain = median_of(stream, [&] { resample.execute(stream, image, m, output); });
  const double bent = warp(by_field);
  const double chained = warp(by_chain);
  const double through_memory = median_of(stream, [&] {
    by_field.positions(stream, grid, positions);
    to_single.execute(stream, positions, singles);
    resample.execute(stream, image, singles, output);
  });
  report("cubic warp by an affine transform, with the prefilter", plain);
  report("cubic warp by a field, with the prefilter", bent);
  report("cubic warp by affine, field, affine", chained);
  report("cubic warp by a field through coordinates in memory", through_memory);
  std::printf("  field over affine %.2f; chain over field %.2f\n", bent / plain, chained / bent);
}

int run(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "usage: measure_transforms DEVICE [SIDE]\n");
    return 2;
  }
  measure(argv[1], argc > 2 ? std::atoi(argv[2]) : 256);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return tools::measurement_main(argc, argv, "measure_transforms", run);
}
