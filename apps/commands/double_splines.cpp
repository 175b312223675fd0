// Splines in double precision for the commands of interpolation.
#include "commands/double_splines.hpp"

#include "io/array_file.hpp"
#include "io/usage_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace warpalign::program {
namespace {

// The samples that SciPy adds at both ends for boundaries whose extension it cannot filter.
constexpr std::int64_t scipy_margin = 12;
// Beyond this distance a sample changes no bit of a coefficient: the slowest pole, of degree 5, is
// 0.4306 (Unser 1999, table 1), and 0.4306^48 is 3e-18.
constexpr std::int64_t reach_of_filter = 48;

bool needs_margin(const SplineModel& spline) {
  return spline.prefilter && spline.degree >= 2 &&
         (spline.boundary == Boundary::nearest || spline.boundary == Boundary::grid_constant);
}

std::vector<std::int64_t> grown(std::vector<std::int64_t> extents, std::int64_t margin) {
  for (std::int64_t& extent : extents) extent += 2 * margin;
  return extents;
}

/// For each sample of an array with these extents and a margin: calls use(index of the sample,
/// index of the sample `margin` before it, which the edges limit, or -1 beyond them).
template <typename Use>
void for_padded(const Array& from, std::int64_t margin, const Use& use) {
  const Shape inner = from.shape();
  const int dimensions = from.dimensions();
  const std::int64_t along_y = dimensions > 1 ? margin : 0, along_z = dimensions > 2 ? margin : 0;
  std::size_t to = 0;
  for (std::int64_t z = -along_z; z < inner.depth + along_z; ++z) {
    for (std::int64_t y = -along_y; y < inner.height + along_y; ++y) {
      for (std::int64_t x = -margin; x < inner.width + margin; ++x, ++to) {
        const std::int64_t u = std::clamp<std::int64_t>(x, 0, inner.width - 1);
        const std::int64_t v = std::clamp<std::int64_t>(y, 0, inner.height - 1);
        const std::int64_t w = std::clamp<std::int64_t>(z, 0, inner.depth - 1);
        use(to, static_cast<std::size_t>((w * inner.height + v) * inner.width + u),
            u == x && v == y && w == z);
      }
    }
  }
}

/// Adds the samples beyond the edges that the boundary says.
Array padded(const Array& numbers, const SplineModel& spline, std::int64_t margin) {
  if (margin == 0) return numbers;
  Array result = make_array(grown(numbers.extents, margin), PixelType::f64);
  const auto from = numbers.samples<double>();
  const auto to = result.samples<double>();
  const bool repeats = spline.boundary == Boundary::nearest;
  for_padded(numbers, margin, [&](std::size_t at, std::size_t nearest, bool inside) {
    to[at] = inside || repeats ? from[nearest] : spline.cval;
  });
  return result;
}

Array cropped(const Array& numbers, const std::vector<std::int64_t>& extents, std::int64_t margin) {
  Array result = make_array(extents, PixelType::f64);
  const auto from = numbers.samples<double>();
  const auto to = result.samples<double>();
  for_padded(result, margin, [&](std::size_t at, std::size_t nearest, bool inside) {
    if (inside) to[nearest] = from[at];
  });
  return result;
}

DoubleSplineSpec spec_of(const SplineModel& spline, const Array& padded_array, std::int64_t margin,
                         const Shape& output, bool footprints = false) {
  DoubleSplineSpec spec;
  spec.footprints = footprints;
  spec.degree = spline.degree;
  spec.prefilter = spline.prefilter.has_value();
  spec.boundary = spline.boundary;
  spec.margin = static_cast<int>(margin);
  spec.images = {.shape = padded_array.shape(), .dimensions = padded_array.dimensions()};
  spec.output = output;
  return spec;
}

Array of_extents(const std::vector<std::int64_t>& extents) { return {extents, PixelType::f64, {}}; }

}  // namespace

void check_double(const Device& device, const Array& array, const std::string& what,
                  const std::string& option) {
  if (array.type == PixelType::c32) {
    throw UsageError(
        fmt::format("{}: requires real numbers; {} is {}", option, what, describe(array)));
  }
  if (!device.info().double_precision) {
    throw UsageError(fmt::format(
        "{}: requires double precision, which {} ({}) does not have; choose another device with "
        "--device",
        option, device.info().id, device.info().name));
  }
}

DoubleResampler::DoubleResampler(const Device& device, const SplineModel& spline,
                                 const Array& first, const SamplingPoints& points, bool footprints)
    : spline_(spline),
      points_(points),
      margin_(needs_margin(spline) ? scipy_margin : 0),
      stream_(device.make_stream()),
      plan_(device, spec_of(spline, of_extents(grown(first.extents, margin_)), margin_,
                            points.stage_shape, footprints)),
      input_(device.make_image(PixelType::f64, of_extents(grown(first.extents, margin_)).shape())),
      output_(device.make_image(PixelType::f64, points.stage_shape)) {
  if (!points.coordinates) return;
  const Shape& shape = points.stage_shape;
  coordinates_ = device.make_image(PixelType::f64,
                                   {shape.width, shape.height, shape.depth * first.dimensions()});
  const auto& bytes = points.coordinates->bytes;
  stream_.upload(bytes.data(), bytes.size(), coordinates_->buffer());
}

Array DoubleResampler::resample(const Array& channel, PixelType to) {
  const Array numbers = padded(to_double(channel), spline_, margin_);
  stream_.upload(numbers.bytes.data(), numbers.bytes.size(), input_.buffer());
  const auto outside = std::bit_cast<std::uint64_t>(spline_.cval);
  if (coordinates_) {
    plan_.execute(stream_, input_, *coordinates_, outside, output_);
  } else {
    plan_.execute(stream_, input_, points_.transform, outside, output_);
  }
  Array result = make_array(points_.extents, PixelType::f64);
  stream_.download(output_, result.bytes.data(), result.bytes.size());
  return from_double(result, to);
}

Array double_coefficients(const Device& device, const SplineModel& spline, const Array& samples,
                          std::int64_t margin) {
  const std::int64_t filtered = margin > 0 ? margin + reach_of_filter : 0;
  const Array numbers = padded(to_double(samples), spline, filtered);
  const DoubleSplinePlan plan(device, spec_of(spline, numbers, filtered, numbers.shape()));
  Stream stream = device.make_stream();
  Image input = device.make_image(PixelType::f64, numbers.shape());
  Image output = device.make_image(PixelType::f64, numbers.shape());
  stream.upload(numbers.bytes.data(), numbers.bytes.size(), input.buffer());
  plan.prefilter(stream, input, output);
  Array coefficients = make_array(numbers.extents, PixelType::f64);
  stream.download(output, coefficients.bytes.data(), coefficients.bytes.size());
  if (margin == 0) return coefficients;
  return cropped(coefficients, grown(samples.extents, margin), reach_of_filter);
}

}  // namespace warpalign::program
