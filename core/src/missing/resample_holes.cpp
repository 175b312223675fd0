// Resampling of an image with missing samples, all of it on a device.
#include "missing/resample_holes.hpp"

#include "missing/shares.hpp"

#include <warpalign/missing.hpp>
#include <warpalign/stages/convert.hpp>
#include <warpalign/stages/fill_missing.hpp>
#include <warpalign/tiles.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace warpalign::detail {

namespace {

/// An integer type's values, or none for types that are no integers.
struct IntegerRange {
  bool is_integer = false;
  double lowest = 0, highest = 0;
};

bool is_exact_in_floats(PixelType type) {
  constexpr std::array exact{PixelType::u8,  PixelType::i8,  PixelType::u16,
                             PixelType::i16, PixelType::f16, PixelType::f32};
  return std::ranges::find(exact, type) != exact.end();
}

template <typename Integer>
IntegerRange range() {
  return {true, static_cast<double>(std::numeric_limits<Integer>::min()),
          static_cast<double>(std::numeric_limits<Integer>::max())};
}

IntegerRange range_of(PixelType type) {
  switch (type) {
    case PixelType::u8:
      return range<std::uint8_t>();
    case PixelType::i8:
      return range<std::int8_t>();
    case PixelType::u16:
      return range<std::uint16_t>();
    case PixelType::i16:
      return range<std::int16_t>();
    default:
      return {};
  }
}

MissingResults results_of(const ResampleSpec& spec, std::optional<double> nodata) {
  const double value = nodata.value_or(std::numeric_limits<double>::quiet_NaN());
  const IntegerRange range = range_of(spec.output_type);
  // With `grid_constant`, cval may be the nodata value.
  const bool is_cval = spec.spline.boundary == Boundary::grid_constant && spec.spline.cval == value;
  return {.missing = static_cast<float>(value),
          .has_outside = spec.spline.boundary == Boundary::constant,
          .avoids_missing = nodata && range.is_integer && !is_cval,
          .lowest = static_cast<float>(range.lowest),
          .highest = static_cast<float>(range.highest),
          .next = static_cast<float>(value + (value < range.highest ? 1 : -1))};
}

ResampleSpec of_floats(ResampleSpec spec) {
  spec.input = PixelType::f32;
  spec.output_type = PixelType::f32;
  return spec;
}

/// The mask is interpolated with the spline's own weights, without a prefilter.
ResampleSpec of_mask(ResampleSpec spec) {
  spec.spline.prefilter = std::nullopt;
  spec.spline.precision = Precision::full;
  spec.spline.cval = spec.spline.boundary == Boundary::constant ? outside_mask : 1;
  spec.input = PixelType::u8;
  spec.output_type = PixelType::f32;
  return spec;
}

}  // namespace

bool can_resample_holes(const Device& device, const ResampleSpec& spec) {
  if (device.info().kind == DeviceKind::cpu || spec.spline.degree < 1) return false;
  if (!is_exact_in_floats(spec.input) || !is_exact_in_floats(spec.output_type)) return false;
  const auto samples = static_cast<std::size_t>(spec.images.shape.pixels());
  const auto results = static_cast<std::size_t>(spec.output.pixels());
  constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
  if (samples > most || results > most) return false;
  // The image as it is and as floats, its mask, coefficients of image and mask, and the lists of
  // the fill; the results as floats and as they are, and their shares.
  const std::size_t bytes = samples * (7 * sizeof(float) + 1) +
                            FillMissingPlan::scratch_bytes({spec.images.shape, 1}) +
                            results * 3 * sizeof(float);
  return bytes <= max_device_memory(device);
}

void resample_holes(const Device& device, const ResampleSpec& spec, const void* image,
                    const std::vector<std::uint8_t>& known,
                    const HomogeneousMatrix& output_to_input, std::optional<double> nodata,
                    void* output, std::span<float> weights) {
  const Shape& shape = spec.images.shape;
  Stream stream = device.make_stream();
  Image values = device.make_image(PixelType::f32, shape);
  Image mask = device.make_image(PixelType::u8, shape);
  stream.upload(known.data(), mask.size_bytes(), mask.buffer());
  if (spec.input == PixelType::f32) {
    stream.upload(image, values.size_bytes(), values.buffer());
  } else {
    Image samples = device.make_image(spec.input, shape);
    stream.upload(image, samples.size_bytes(), samples.buffer());
    ConvertPlan(device, {shape, spec.input, PixelType::f32}).execute(stream, samples, values);
  }
  FillMissingPlan(device, {shape, 1}).fill(stream, values.buffer(), mask.buffer());
  Image results = device.make_image(PixelType::f32, spec.output);
  ResamplePlan(device, of_floats(spec)).execute(stream, values, output_to_input, results);
  Image shares = device.make_image(PixelType::f32, spec.output);
  ResamplePlan(device, of_mask(spec)).execute(stream, mask, output_to_input, shares);
  MarkMissingPlan(device, spec.output.pixels())
      .execute(stream, results_of(spec, nodata), shares.buffer(), results.buffer());
  if (spec.output_type == PixelType::f32) {
    stream.download(results, output, results.size_bytes());
  } else {
    Image rounded = device.make_image(spec.output_type, spec.output);
    ConvertPlan(device, {spec.output, PixelType::f32, spec.output_type})
        .execute(stream, results, rounded);
    stream.download(rounded, output, rounded.size_bytes());
  }
  if (!weights.empty()) stream.download(shares, weights.data(), shares.size_bytes());
}

}  // namespace warpalign::detail
