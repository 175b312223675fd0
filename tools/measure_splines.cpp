// Measures the spline stages on images that are on the device: median device times, compared with a
// copy of the same image. Not a test; docs/performance-notes.md records what it printed.
//
//   measure_splines device[,device...] [size...] [volume SIZE]
//   e.g. measure_splines cuda:0,opencl:nvidia 1024 2048 8192 volume 512
#include "measurement.hpp"

#include <warpalign/error.hpp>
#include <warpalign/stages/interpolate.hpp>
#include <warpalign/stages/prefilter.hpp>
#include <warpalign/stages/resample.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

namespace {

using warpalign::Boundary;
using warpalign::HomogeneousMatrix;
using warpalign::Image;
using warpalign::InterpolatePlan;
using warpalign::InterpolateSpec;
using warpalign::PixelType;
using warpalign::Precision;
using warpalign::PrefilterMethod;
using warpalign::PrefilterPlan;
using warpalign::PrefilterSpec;
using warpalign::Shape;
using warpalign::Stream;

constexpr std::int64_t rotated_bytes = std::int64_t{400} << 20;  // inputs that fit in no cache
constexpr std::int64_t queue_bytes = std::int64_t{256} << 20;    // copied while work is enqueued
constexpr int runs = 25;

/// One device and what is measured on it: inputs of one shape, rotated through.
struct Bench {
  warpalign::Device device;
  Stream stream;
  std::vector<Image> inputs;
  Image coefficients, output;
  Image queue_from, queue_to;

  Bench(const warpalign::Device& on, const Shape& shape)
      : device(on),
        stream(on.make_stream(true)),
        coefficients(on.make_image(PixelType::f32, shape)),
        output(on.make_image(PixelType::f32, shape)),
        queue_from(on.make_image(PixelType::u8, {queue_bytes, 1, 1})),
        queue_to(on.make_image(PixelType::u8, {queue_bytes, 1, 1})) {
    const std::int64_t bytes = shape.pixels() * 4;
    const auto count = std::clamp<std::int64_t>(rotated_bytes / bytes, 2, 16);
    std::vector<float> pixels(static_cast<std::size_t>(shape.pixels()));
    unsigned state = 1;
    for (float& pixel : pixels) {
      state = state * 1664525u + 1013904223u;
      pixel = static_cast<float>(state >> 8) * 0x1p-24f;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      inputs.push_back(on.make_image(PixelType::f32, shape));
      stream.upload(pixels.data(), pixels.size() * sizeof(float), inputs.back().buffer());
    }
    stream.upload(pixels.data(), std::min<std::size_t>(pixels.size() * 4, queue_bytes),
                  queue_from.buffer());
  }

  /// Median device time of work(input) in milliseconds. A long copy goes before, so that the host
  /// is always ahead of the device.
  double median(const std::function<void(const Image&)>& work) {
    for (int i = 0; i < 2; ++i) work(inputs[static_cast<std::size_t>(i)]);
    stream.finish();
    std::vector<warpalign::Mark> marks;
    stream.copy(queue_from.buffer(), queue_to.buffer());
    for (int i = 0; i < runs; ++i) {
      marks.push_back(stream.mark());
      work(inputs[static_cast<std::size_t>(i) % inputs.size()]);
      marks.push_back(stream.mark());
    }
    stream.finish();
    std::vector<double> times;
    for (std::size_t i = 0; i < marks.size(); i += 2) {
      times.push_back(stream.milliseconds_between(marks[i], marks[i + 1]));
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }
};

void report(const char* what, double time, double copy, double bilinear = 0) {
  std::printf("  %-44s %9.4f ms  %6.2f x copy", what, time, time / copy);
  if (bilinear > 0) std::printf("  %6.2f x linear", time / bilinear);
  std::printf("\n");
  std::fflush(stdout);
}

double copy_time(Bench& bench) {
  return bench.median(
      [&](const Image& in) { bench.stream.copy(in.buffer(), bench.output.buffer()); });
}

PrefilterPlan prefilter(const Bench& bench, const Shape& shape, int dimensions,
                        PrefilterMethod method) {
  PrefilterSpec spec;
  spec.images.shape = shape;
  spec.images.dimensions = dimensions;
  spec.spline.prefilter = method;
  return {bench.device, spec};
}

InterpolatePlan interpolate(const Bench& bench, const Shape& shape, int dimensions, int degree,
                            Precision precision) {
  InterpolateSpec spec;
  spec.images.shape = spec.output = shape;
  spec.images.dimensions = dimensions;
  spec.spline.degree = degree;
  spec.spline.precision = precision;
  spec.spline.boundary = Boundary::constant;
  return {bench.device, spec};
}

/// About the middle of the image; in volumes about the z axis or the diagonal.
HomogeneousMatrix rotation(const Shape& shape, double degrees, bool diagonal) {
  const double angle = degrees * std::numbers::pi / 180;
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  const double middle[3] = {(static_cast<double>(shape.width) - 1) / 2,
                            (static_cast<double>(shape.height) - 1) / 2,
                            (static_cast<double>(shape.depth) - 1) / 2};
  double r[9] = {c, -s, 0, s, c, 0, 0, 0, 1};
  if (diagonal) {
    const double even = (1 - c) / 3;
    const double odd = s / std::sqrt(3.0);
    for (int i = 0; i < 3; ++i) {
      r[4 * i] = c + even;
      r[3 * i + (i + 1) % 3] = even - odd;
      r[3 * i + (i + 2) % 3] = even + odd;
    }
  }
  HomogeneousMatrix transform;
  for (int i = 0; i < 3; ++i) {
    double shift = middle[i];
    for (int k = 0; k < 3; ++k) {
      transform.m[static_cast<std::size_t>(4 * i + k)] = r[3 * i + k];
      shift -= r[3 * i + k] * middle[k];
    }
    transform.m[static_cast<std::size_t>(4 * i + 3)] = shift;
  }
  return transform;
}

void measure_rotation(Bench& bench, const Shape& shape, int dimensions,
                      const HomogeneousMatrix& rotation, double copy) {
  const auto exact = prefilter(bench, shape, dimensions, PrefilterMethod::exact);
  const auto evaluate = [&](const InterpolatePlan& plan, const Image& from) {
    plan.execute(bench.stream, from, rotation, bench.output);
  };
  const auto time = [&](int degree, Precision precision) {
    const auto plan = interpolate(bench, shape, dimensions, degree, precision);
    return bench.median([&](const Image& in) { evaluate(plan, in); });
  };
  const double linear = time(1, Precision::texture);
  report("linear, texture", linear, copy, linear);
  report("linear, full precision", time(1, Precision::full), copy, linear);
  report("cubic, texture", time(3, Precision::texture), copy, linear);
  report("cubic, full precision", time(3, Precision::full), copy, linear);
  const auto cubic = interpolate(bench, shape, dimensions, 3, Precision::full);
  const double complete = bench.median([&](const Image& in) {
    exact.execute(bench.stream, in, bench.coefficients);
    evaluate(cubic, bench.coefficients);
  });
  report("exact prefilter, cubic, full precision: two plans", complete, copy, linear);
  warpalign::ResampleSpec spec;
  spec.images.shape = spec.output = shape;
  spec.images.dimensions = dimensions;
  spec.spline.boundary = Boundary::constant;
  warpalign::ResamplePlan resample(bench.device, spec);
  const double together = bench.median(
      [&](const Image& in) { resample.execute(bench.stream, in, rotation, bench.output); });
  report("exact prefilter, cubic, full precision: one plan", together, copy, linear);
}

void measure_planes(const warpalign::Device& device, std::int64_t size) {
  const Shape shape{size, size, 1};
  Bench bench(device, shape);
  const double copy = copy_time(bench);
  std::printf(" %lld x %lld\n", static_cast<long long>(size), static_cast<long long>(size));
  report("copy", copy, copy);
  for (const auto& [name, method] : {std::pair{"prefilter, exact", PrefilterMethod::exact},
                                     std::pair{"prefilter, fir:15", PrefilterMethod::fir}}) {
    const auto plan = prefilter(bench, shape, 2, method);
    report(name, bench.median([&](const Image& in) {
      plan.execute(bench.stream, in, bench.coefficients);
    }),
           copy);
  }
  for (const double degrees : {17.0, 45.0, 73.0}) {
    std::printf("  rotated by %g degrees\n", degrees);
    measure_rotation(bench, shape, 2, rotation(shape, degrees, false), copy);
  }
}

void measure_volume(const warpalign::Device& device, std::int64_t size) {
  const Shape shape{size, size, size};
  Bench bench(device, shape);
  const double copy = copy_time(bench);
  std::printf(" %lld^3\n", static_cast<long long>(size));
  report("copy", copy, copy);
  const auto plan = prefilter(bench, shape, 3, PrefilterMethod::exact);
  report("prefilter, exact",
         bench.median([&](const Image& in) { plan.execute(bench.stream, in, bench.coefficients); }),
         copy);
  for (const bool diagonal : {false, true}) {
    std::printf("  rotated by 17 degrees about %s\n", diagonal ? "the diagonal" : "the z axis");
    measure_rotation(bench, shape, 3, rotation(shape, 17, diagonal), copy);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: measure_splines device[,device...] [size...] [volume SIZE]\n");
    return 2;
  }
  for (const std::string& name : tools::split(argv[1])) {
    try {
      const auto device = warpalign::open_device(name);
      std::printf("%s (%s, %s)\n", name.c_str(), device.info().name.c_str(),
                  device.info().driver.c_str());
      for (int i = 2; i < argc; ++i) {
        if (std::string(argv[i]) == "volume" && i + 1 < argc) {
          measure_volume(device, std::atoll(argv[++i]));
        } else {
          measure_planes(device, std::atoll(argv[i]));
        }
      }
    } catch (const warpalign::Error& error) {
      std::printf("%s: %s\n", name.c_str(), error.what());
    }
  }
  return 0;
}
