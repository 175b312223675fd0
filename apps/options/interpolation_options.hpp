// The interpolation options that several commands share.
#pragma once

#include <warpalign/stages/spline_model.hpp>

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace warpalign::program {

/// The options as typed, unchecked.
struct InterpolationOptions {
  int degree = 3;
  std::optional<std::string> prefilter;
  std::string boundary = "mirror";
  double cval = 0;
  std::string precision = "full";
};

/// Adds --degree, --prefilter, --boundary and --cval.
void add_interpolation_options(CLI::App& command, InterpolationOptions& options);
/// Adds --precision for commands that evaluate splines.
void add_precision_option(CLI::App& command, InterpolationOptions& options);
/// Adds --precision for commands that compute coefficients only.
void add_filter_precision_option(CLI::App& command, InterpolationOptions& options);

[[nodiscard]] inline bool is_double(const InterpolationOptions& options) {
  return options.precision == "double";
}

/// Converts the options. Throws UsageError, naming the option.
[[nodiscard]] SplineModel spline_of(const InterpolationOptions& options);

/// A cubic spline with the prefilter "exact", "fir:N", "iir:line" or "none". Throws UsageError.
[[nodiscard]] SplineModel spline_with_prefilter(const std::string& text);
/// The inverse of spline_with_prefilter().
[[nodiscard]] std::string prefilter_name(const SplineModel& spline);

}  // namespace warpalign::program
