// Parses and checks the interpolation options before a device is opened.
#include "options/interpolation_options.hpp"

#include "io/usage_error.hpp"
#include "options/command_line.hpp"

#include <warpalign/error.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>

namespace warpalign::program {
namespace {

int taps_of(std::string_view text) {
  constexpr int most = 63;
  int taps = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), taps);
  if (failed != std::errc() || end != text.data() + text.size() || taps < 3 || taps > most ||
      taps % 2 == 0) {
    throw UsageError(fmt::format(
        "--prefilter fir:{}: the number of taps must be odd, from 3 to {}; 15 is enough for 8 bits",
        text, most));
  }
  return taps;
}

Boundary boundary_of(const std::string& name) {
  try {
    return boundary_of_name(name);
  } catch (const Error& error) {
    throw UsageError(fmt::format("--boundary {}: {}", name, error.message()));
  }
}

Precision precision_of(const std::string& name) {
  // Plans of their own compute in double precision.
  if (name == "full" || name == "double") return Precision::full;
  if (name == "texture") return Precision::texture;
  if (name == "texture-lut") return Precision::texture_lut;
  throw UsageError(fmt::format(
      "invalid value '{}' for --precision (choose from: full, double, texture, texture-lut)",
      name));
}

/// Degrees 0 and 1 interpolate the samples directly and need no prefilter.
SplineModel prefilter_for(const InterpolationOptions& options) {
  if (options.degree >= 2) {
    const SplineModel spline = spline_with_prefilter(options.prefilter.value_or("exact"));
    if (spline.prefilter == PrefilterMethod::fir && options.degree != 3) {
      throw UsageError(fmt::format("--prefilter {}: requires --degree 3; use exact for degree {}",
                                   *options.prefilter, options.degree));
    }
    return spline;
  }
  const SplineModel spline = spline_with_prefilter(options.prefilter.value_or("none"));
  if (spline.prefilter && spline.prefilter != PrefilterMethod::exact) {
    throw UsageError(fmt::format("--prefilter {}: degree {} uses no prefilter; omit the option",
                                 *options.prefilter, options.degree));
  }
  return {.prefilter = std::nullopt};
}

}  // namespace

void add_interpolation_options(CLI::App& command, InterpolationOptions& options) {
  begin_group(command, "Interpolation");
  add_option(command, "--degree N", &options.degree, "Degree of the spline, 0 to 5",
             suggesting("0 1 2 3 4 5", with_default));
  add_option(command, "--prefilter NAME", &options.prefilter,
             "exact, fir:N (N odd taps; degree 3), iir:line, or none [exact]",
             suggesting("exact fir:15 iir:line none"));
  add_option(
      command, "--boundary NAME", &options.boundary,
      "mirror, reflect, nearest, constant, grid-constant, wrap, or grid-wrap",
      suggesting("mirror reflect nearest constant grid-constant wrap grid-wrap", with_default));
  add_option(command, "--cval NUMBER", &options.cval,
             "Value outside the input for constant and grid-constant, and at NaN coordinates",
             with_default);
}

void add_precision_option(CLI::App& command, InterpolationOptions& options) {
  add_option(command, "--precision NAME", &options.precision,
             "full (single precision), double, texture (hardware filtering; degree 1 or 3, real "
             "data of 2 or 3 dimensions), or texture-lut",
             suggesting("full double texture texture-lut", with_default));
}

void add_filter_precision_option(CLI::App& command, InterpolationOptions& options) {
  add_option(command, "--precision NAME", &options.precision, "full (single precision), or double",
             suggesting("full double", with_default));
}

SplineModel spline_with_prefilter(const std::string& text) {
  constexpr std::string_view fir = "fir:";
  if (text == "exact") return {.prefilter = PrefilterMethod::exact};
  if (text == "iir:line") return {.prefilter = PrefilterMethod::iir_line};
  if (text == "none") return {.prefilter = std::nullopt};
  if (text.starts_with(fir)) {
    return {.prefilter = PrefilterMethod::fir,
            .taps = taps_of(std::string_view(text).substr(fir.size()))};
  }
  throw UsageError(fmt::format(
      "invalid value '{}' for --prefilter (choose from: exact, fir:N such as fir:15, iir:line, "
      "none)",
      text));
}

std::string prefilter_name(const SplineModel& spline) {
  if (!spline.prefilter) return "none";
  switch (*spline.prefilter) {
    case PrefilterMethod::exact:
      return "exact";
    case PrefilterMethod::fir:
      return fmt::format("fir:{}", spline.taps);
    case PrefilterMethod::iir_line:
      break;
  }
  return "iir:line";
}

SplineModel spline_of(const InterpolationOptions& options) {
  if (options.degree < 0 || options.degree > 5) {
    throw UsageError(fmt::format("--degree {}: must be from 0 to 5", options.degree));
  }
  if (!std::isfinite(options.cval)) throw UsageError("--cval: must be a finite number");
  SplineModel spline = prefilter_for(options);
  spline.degree = options.degree;
  spline.boundary = boundary_of(options.boundary);
  spline.cval = options.cval;
  spline.precision = precision_of(options.precision);
  if (spline.precision != Precision::full && options.degree != 1 && options.degree != 3) {
    throw UsageError(fmt::format("--precision {}: requires --degree 1 or 3, not {}",
                                 options.precision, options.degree));
  }
  if (is_double(options) && spline.prefilter && spline.prefilter != PrefilterMethod::exact) {
    throw UsageError(fmt::format(
        "--prefilter {}: computes in single precision; --precision double requires exact or none",
        *options.prefilter));
  }
  return spline;
}

}  // namespace warpalign::program
