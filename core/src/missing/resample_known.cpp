// Resampling of arrays with missing samples.
#include <warpalign/missing.hpp>

#include "device/check.hpp"
#include "missing/resample_holes.hpp"
#include "missing/shares.hpp"

#include <warpalign/stages/convert.hpp>
#include <warpalign/tiles.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>

namespace warpalign {

namespace {

constexpr const char* resample_known_stage = "resample_known";
using detail::outside_mask;
using detail::share_rounding;

bool is_integer_type(PixelType type) {
  return type != PixelType::f16 && type != PixelType::f32 && type != PixelType::f64 &&
         type != PixelType::c32;
}

std::vector<float> floats_of(const Device& device, const ResampleSpec& spec, const void* image) {
  const Shape& shape = spec.images.shape;
  const auto numbers =
      static_cast<std::size_t>(shape.pixels()) * (spec.input == PixelType::c32 ? 2 : 1);
  std::vector<float> values(numbers);
  if (spec.input == PixelType::f32 || spec.input == PixelType::c32) {
    std::memcpy(values.data(), image, numbers * sizeof(float));
    return values;
  }
  Stream stream = device.make_stream();
  Image from = device.make_image(spec.input, shape);
  Image to = device.make_image(PixelType::f32, shape);
  stream.upload(image, from.size_bytes(), from.buffer());
  ConvertPlan(device, {shape, spec.input, PixelType::f32}).execute(stream, from, to);
  stream.download(to, values.data(), to.size_bytes());
  return values;
}

/// The samples with others in place of missing ones: f32, or c32.
std::vector<float> filled_floats(const Device& device, const ResampleSpec& spec, const void* image,
                                 const KnownSamples& samples) {
  std::vector<float> values = floats_of(device, spec, image);
  if (spec.input != PixelType::c32) {
    fill_missing(values, samples.known, spec.images.shape);
    return values;
  }
  std::vector<float> part(values.size() / 2);
  for (std::size_t offset = 0; offset < 2; ++offset) {
    for (std::size_t i = 0; i < part.size(); ++i) part[i] = values[2 * i + offset];
    fill_missing(part, samples.known, spec.images.shape);
    for (std::size_t i = 0; i < part.size(); ++i) values[2 * i + offset] = part[i];
  }
  return values;
}

/// The known share of each result's support; above 1 beyond the edges.
std::vector<float> known_shares(const Device& device, const ResampleSpec& spec,
                                const std::vector<std::uint8_t>& known,
                                const HomogeneousMatrix& output_to_input) {
  ResampleSpec mask = spec;
  mask.spline.prefilter = std::nullopt;
  mask.spline.precision = Precision::full;
  mask.spline.cval = spec.spline.boundary == Boundary::constant ? outside_mask : 1;
  mask.input = PixelType::u8;
  mask.output_type = PixelType::f32;
  std::vector<float> shares(static_cast<std::size_t>(spec.output.pixels()));
  TiledResampler(device, mask).execute(known.data(), output_to_input, shares.data());
  return shares;
}

class ResultValues {
 public:
  ResultValues(const ResampleSpec& spec, std::optional<double> nodata)
      : type_(spec.output_type), bytes_(size_of(spec.output_type)) {
    if (is_integer_type(type_) && !nodata) return;  // they cannot be missing
    const double value = nodata.value_or(std::numeric_limits<double>::quiet_NaN());
    store_value(type_, value, missing_.data());
    // With `grid_constant`, cval may be the nodata value.
    const bool is_cval =
        spec.spline.boundary == Boundary::grid_constant && spec.spline.cval == value;
    avoids_ = nodata && is_integer_type(type_) && spec.spline.degree > 0 && !is_cval;
    if (avoids_)
      store_value(type_, can_hold(type_, value + 1) ? value + 1 : value - 1, next_.data());
    has_value_ = true;
  }

  /// Whether a value that is not missing may equal the nodata value.
  [[nodiscard]] bool avoids_nodata() const { return avoids_; }
  [[nodiscard]] bool looks_missing(const void* result) const {
    return has_value_ && std::memcmp(result, missing_.data(), bytes_) == 0;
  }
  void set_missing(void* result) const {
    if (has_value_) std::memcpy(result, missing_.data(), bytes_);
  }
  void set_next(void* result) const { std::memcpy(result, next_.data(), bytes_); }

 private:
  PixelType type_;
  std::size_t bytes_;
  bool has_value_ = false, avoids_ = false;
  std::array<std::byte, 8> missing_{}, next_{};
};

}  // namespace

std::int64_t resample_known(const Device& device, const ResampleSpec& spec, const void* image,
                            const HomogeneousMatrix& output_to_input, std::optional<double> nodata,
                            void* output, std::span<float> weights) {
  if (spec.images.count != 1) {
    detail::refuse(resample_known_stage, "there must be one image, not a batch");
  }
  const auto pixels = static_cast<std::size_t>(spec.output.pixels());
  if (!weights.empty() && weights.size() != pixels) {
    detail::refuse(resample_known_stage, "there must be one weight for each pixel of the output");
  }
  if (nodata && !can_hold(spec.output_type, *nodata)) {
    detail::refuse(resample_known_stage, std::string("no sample of the output's type, ") +
                                             name_of(spec.output_type) +
                                             ", can have the nodata value");
  }
  TiledResampler whole(device, spec);  // checks the spec
  const KnownSamples samples =
      known_samples(HostVolume{image, spec.input, spec.images.shape}, nodata);
  if (samples.missing == spec.images.shape.pixels()) {
    detail::refuse(resample_known_stage, "all samples are missing (NaN, infinite or nodata)");
  }
  if (samples.missing > 0 && is_integer_type(spec.output_type) && !nodata) {
    detail::refuse(resample_known_stage,
                   std::string("the image has missing samples, and an output of ") +
                       name_of(spec.output_type) +
                       " cannot hold NaN; choose a nodata value, or a floating-point output");
  }
  if (samples.missing > 0 && detail::can_resample_holes(device, spec)) {
    detail::resample_holes(device, spec, image, samples.known, output_to_input, nodata, output,
                           weights);
    return samples.missing;
  }
  if (samples.missing == 0 || spec.spline.degree == 0) {
    whole.execute(image, output_to_input, output);
  } else {
    ResampleSpec of_floats = spec;
    of_floats.input = spec.input == PixelType::c32 ? PixelType::c32 : PixelType::f32;
    const std::vector<float> values = filled_floats(device, spec, image, samples);
    TiledResampler(device, of_floats).execute(values.data(), output_to_input, output);
  }
  const ResultValues results(spec, nodata);
  auto* bytes = static_cast<std::byte*>(output);
  const std::size_t step = size_of(spec.output_type);
  const auto looks_missing = [&] {
    if (!results.avoids_nodata()) return false;
    for (std::size_t i = 0; i < pixels; ++i) {
      if (results.looks_missing(bytes + i * step)) return true;
    }
    return false;
  };
  if (samples.missing == 0 && weights.empty() && !looks_missing()) return 0;
  const std::vector<float> shares = known_shares(device, spec, samples.known, output_to_input);
  const bool has_outside = spec.spline.boundary == Boundary::constant;
  for (std::size_t i = 0; i < pixels; ++i) {
    const bool is_outside = has_outside && static_cast<double>(shares[i]) > (1 + outside_mask) / 2;
    if (!weights.empty()) weights[i] = is_outside ? 0.0F : shares[i];
    if (is_outside) continue;
    if (static_cast<double>(shares[i]) < min_known_share - share_rounding) {
      results.set_missing(bytes + i * step);
    } else if (results.avoids_nodata() && results.looks_missing(bytes + i * step)) {
      results.set_next(bytes + i * step);
    }
  }
  return samples.missing;
}

}  // namespace warpalign
