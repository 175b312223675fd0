// Warps arrays with missing samples, in commands.
#include "commands/missing_samples.hpp"

#include "commands/finite_samples.hpp"
#include "io/array_file.hpp"
#include "io/nodata_mask.hpp"
#include "io/usage_error.hpp"

#include <warpalign/missing.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace warpalign::program {
namespace {

/// The value of the mask beyond the edges with `constant`. No interpolated mask reaches it.
constexpr double outside = 2;
/// Rounding must not decide at exactly half of the support.
constexpr double rounding = 1e-5;

using Pixel = std::array<std::byte, 8>;

Pixel pixel_of(PixelType type, double value) {
  Pixel pixel{};
  store_value(type, value, pixel.data());
  return pixel;
}

Array mask_of(const std::vector<std::int64_t>& extents, const std::vector<std::uint8_t>& known) {
  Array mask = make_array(extents, PixelType::f32);
  std::ranges::copy(known, mask.samples<float>().begin());
  return mask;
}

void fill_with_missing(std::optional<double> nodata, Array& array) {
  const double value = nodata.value_or(std::numeric_limits<double>::quiet_NaN());
  const std::size_t step = size_of(array.type);
  for (std::size_t at = 0; at < array.bytes.size(); at += step) {
    store_value(array.type, value, array.bytes.data() + at);
  }
}

/// Fills the real and the imaginary parts one after the other.
void fill_complex(Array& array, const std::vector<std::uint8_t>& known) {
  const auto samples = array.samples<float>();
  std::vector<float> part(samples.size() / 2);
  for (std::size_t offset = 0; offset < 2; ++offset) {
    for (std::size_t i = 0; i < part.size(); ++i) part[i] = samples[2 * i + offset];
    fill_missing(part, known, array.shape());
    for (std::size_t i = 0; i < part.size(); ++i) samples[2 * i + offset] = part[i];
  }
}

}  // namespace

void check_missing(const MissingOptions& options) {
  if (options.missing == "ignore") return;
  if (options.missing != "spread") {
    throw UsageError(fmt::format("invalid value '{}' for --missing (choose from: ignore, spread)",
                                 options.missing));
  }
  if (options.nodata) throw UsageError("--nodata: requires --missing ignore");
  if (options.weights) throw UsageError("--weights: requires --missing ignore");
}

void check_nodata(const MissingOptions& options, PixelType type) {
  if (options.nodata) check_nodata(*options.nodata, type);
}

std::optional<FilledArray> filled(const Array& array, std::optional<double> nodata,
                                  const std::string& what, bool in_double) {
  const HostVolume view{array.bytes.data(), array.type, array.shape()};
  const KnownSamples samples = known_samples(view, nodata);
  if (samples.missing == 0) return std::nullopt;
  if (samples.missing == array.shape().pixels()) {
    throw UsageError(what + ": all samples are missing (NaN, infinite or nodata)");
  }
  return filled(array, samples, in_double);
}

FilledArray filled(const Array& array, const KnownSamples& samples, bool in_double) {
  FilledArray result{in_double ? to_double(array) : to_float(array),
                     mask_of(array.extents, samples.known)};
  if (in_double) {
    fill_missing(result.samples.samples<double>(), samples.known, array.shape());
  } else if (array.type == PixelType::c32) {
    fill_complex(result.samples, samples.known);
  } else {
    fill_missing(result.samples.samples<float>(), samples.known, array.shape());
  }
  return result;
}

SplineModel mask_spline(SplineModel spline) {
  spline.prefilter = std::nullopt;
  spline.precision = Precision::full;
  spline.cval = spline.boundary == Boundary::constant ? outside : 1;
  return spline;
}

std::vector<SampleKind> kinds_of(Array& weights, Boundary boundary) {
  const auto shares = weights.samples<float>();
  std::vector<SampleKind> kinds(shares.size(), SampleKind::value);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (static_cast<double>(shares[i]) < min_known_share - rounding) kinds[i] = SampleKind::missing;
    if (boundary == Boundary::constant && shares[i] > (1 + outside) / 2) {
      kinds[i] = SampleKind::outside;
      shares[i] = 0;
    }
  }
  return kinds;
}

void set_missing(Array& output, const std::vector<SampleKind>& kinds, std::optional<double> nodata,
                 bool avoids_nodata) {
  if (!nodata && is_integer(output.type)) return;  // all samples are known
  const std::size_t bytes = size_of(output.type);
  const double value = nodata.value_or(std::numeric_limits<double>::quiet_NaN());
  const Pixel missing = pixel_of(output.type, value);
  Pixel next = missing;
  const bool avoids = avoids_nodata && nodata && is_integer(output.type);
  if (avoids)
    next = pixel_of(output.type, can_hold(output.type, value + 1) ? value + 1 : value - 1);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    std::byte* sample = output.bytes.data() + i * bytes;
    if (kinds[i] == SampleKind::missing) {
      std::memcpy(sample, missing.data(), bytes);
    } else if (avoids && kinds[i] == SampleKind::value &&
               std::memcmp(sample, missing.data(), bytes) == 0) {
      std::memcpy(sample, next.data(), bytes);
    }
  }
}

Array resample_known(const Array& array, std::optional<double> nodata, Boundary boundary,
                     const Resample& to_grid, const Resample& mask_to_grid) {
  if (is_integer(array.type) && !nodata) return to_grid(array);
  const HostVolume view{array.bytes.data(), array.type, array.shape()};
  const KnownSamples samples = known_samples(view, nodata);
  if (samples.missing == 0) return to_grid(array);
  if (samples.missing == array.shape().pixels()) {
    Array result = to_grid(array);
    fill_with_missing(nodata, result);
    return result;
  }
  const FilledArray holed = filled(array, samples);
  Array result = to_grid(holed.samples);
  Array shares = mask_to_grid(holed.mask);
  set_missing(result, kinds_of(shares, boundary), nodata, true);
  return result;
}

bool looks_missing(const Array& output, std::optional<double> nodata) {
  if (!nodata || !is_integer(output.type)) return false;
  return known_samples(HostVolume{output.bytes.data(), output.type, output.shape()}, nodata)
             .missing > 0;
}

}  // namespace warpalign::program
