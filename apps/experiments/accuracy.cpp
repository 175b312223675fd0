// `warpalign experiment accuracy`: measures the error of each interpolation method on each device.
//
// Ruijters et al.: table 1 gives the RMS error of interpolated values against double precision;
// figure 4 shows the staircase into which the fixed-point weights of hardware filtering turn a
// straight line.
#include "experiments/experiment_report.hpp"
#include "experiments/experiments.hpp"
#include "io/messages.hpp"
#include "io/output_folder.hpp"
#include "io/progress.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"
#include "options/common_options.hpp"
#include "reference/spline/evaluate.hpp"
#include "reference/spline/prefilter.hpp"
#include "reports/svg_plot.hpp"

#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>
#include <warpalign/stages/interpolate.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numbers>
#include <random>
#include <set>

namespace warpalign::program {
namespace {

constexpr Shape image_shape{512, 512, 1};
constexpr Shape points_shape{512, 512, 1};
constexpr std::uint64_t seed = 20090203;
/// The number of positions between two neighbouring samples.
constexpr std::int64_t steps_on_line = 4096;
constexpr double step_height = 1.0 / 65535;

struct Options {
  std::vector<std::string> devices{"all"};
  std::optional<std::string> config;
  std::string folder = "experiment-accuracy";
};

struct Method {
  const char* name;
  Precision precision;
};

constexpr std::array methods{Method{"texture-lut", Precision::texture_lut},
                             Method{"texture", Precision::texture},
                             Method{"full", Precision::full}};

/// Coefficients from 0 to 1, and the true values of their spline at the points.
struct TestImage {
  std::string name;
  std::vector<float> coefficients;
  std::vector<double> truth;
};

struct Problem {
  std::vector<float> coordinates;  ///< all x, then all y
  std::vector<TestImage> images;
};

struct Deviation {
  double rms = 0;
  double largest = 0;
};

struct DeviceResult {
  DeviceInfo device;
  std::vector<std::vector<Deviation>> errors;  ///< by image, then by method
  std::vector<float> line;                     ///< linear interpolation from 0 to `step_height`
};

/// Uniform random numbers in [0, 1), identical with every standard library.
double random_number(std::mt19937_64& engine) {
  return static_cast<double>(engine() >> 11U) * 0x1p-53;
}

std::vector<float> noise(std::mt19937_64& engine) {
  std::vector<float> values(static_cast<std::size_t>(image_shape.plane()));
  for (float& value : values) value = static_cast<float>(random_number(engine));
  return values;
}

/// A sum of waves with periods of about 13 to 60 pixels.
std::vector<float> waves() {
  std::vector<float> values;
  for (std::int64_t y = 0; y < image_shape.height; ++y) {
    for (std::int64_t x = 0; x < image_shape.width; ++x) {
      const auto u = static_cast<double>(x);
      const auto v = static_cast<double>(y);
      const double sum = std::sin(0.11 * u + 0.23 * v) + std::sin(0.47 * u - 0.05 * v) +
                         std::sin(0.19 * v) + std::sin(0.31 * u + 0.29 * v);
      values.push_back(static_cast<float>(0.5 + sum / 8));
    }
  }
  return values;
}

/// The cubic spline of these coefficients, in double precision.
reference::Spline spline_of(const std::vector<float>& coefficients) {
  reference::Volume values(image_shape.width, image_shape.height);
  std::copy(coefficients.begin(), coefficients.end(), values.values.begin());
  return reference::unfiltered(values, 2, 3, reference::Edge::mirror);
}

Problem make_problem() {
  std::mt19937_64 engine(seed);
  Problem problem;
  const auto points = static_cast<std::size_t>(points_shape.plane());
  for (const std::int64_t extent : {image_shape.width, image_shape.height}) {
    for (std::size_t i = 0; i < points; ++i) {
      problem.coordinates.push_back(
          static_cast<float>(random_number(engine) * static_cast<double>(extent - 1)));
    }
  }
  problem.images = {{"noise", noise(engine), {}}, {"smooth", waves(), {}}};
  for (TestImage& image : problem.images) {
    const reference::Spline spline = spline_of(image.coefficients);
    for (std::size_t i = 0; i < points; ++i) {
      const auto x = static_cast<double>(problem.coordinates[i]);
      const auto y = static_cast<double>(problem.coordinates[points + i]);
      image.truth.push_back(reference::evaluate(spline, {x, y, 0}).value);
    }
  }
  return problem;
}

Image upload(Stream& stream, const std::vector<float>& values, const Shape& shape) {
  Image image = stream.device().make_image(PixelType::f32, shape);
  stream.upload(values.data(), values.size() * sizeof(float), image.buffer());
  return image;
}

std::vector<float> interpolate(const Device& device, const InterpolateSpec& spec,
                               const std::vector<float>& coefficients,
                               const std::vector<float>& coordinates) {
  const InterpolatePlan plan(device, spec);
  Stream stream = device.make_stream();
  const Image input = upload(stream, coefficients, spec.images.shape);
  const Image points = upload(stream, coordinates, InterpolatePlan::coordinates_shape(spec));
  Image output = device.make_image(PixelType::f32, spec.output);
  plan.execute(stream, input, points, output);
  std::vector<float> values(static_cast<std::size_t>(spec.output.pixels()));
  stream.download(output, values.data(), values.size() * sizeof(float));
  return values;
}

Deviation error_of(const std::vector<float>& values, const std::vector<double>& truth) {
  Deviation error;
  double squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double d = std::abs(static_cast<double>(values[i]) - truth[i]);
    squares += d * d;
    error.largest = std::max(error.largest, d);
  }
  error.rms = std::sqrt(squares / static_cast<double>(values.size()));
  return error;
}

InterpolateSpec cubic(Precision precision) {
  InterpolateSpec spec;
  spec.images.shape = image_shape;
  spec.output = points_shape;
  spec.spline.precision = precision;
  spec.spline.prefilter = std::nullopt;  // the input holds coefficients
  return spec;
}

double position_on_line(std::size_t i) {
  return static_cast<double>(i) / static_cast<double>(steps_on_line);
}

/// Interpolates with texture precision between the samples 0 and `step_height`.
std::vector<float> sample_line(const Device& device) {
  InterpolateSpec spec;
  spec.images.shape = {2, 2, 1};
  spec.output = {steps_on_line + 1, 1, 1};
  spec.spline.degree = 1;
  spec.spline.precision = Precision::texture;
  spec.spline.prefilter = std::nullopt;
  const auto high = static_cast<float>(step_height);
  const auto count = static_cast<std::size_t>(spec.output.width);
  std::vector<float> coordinates(2 * count);  // y is 0
  for (std::size_t i = 0; i < count; ++i) {
    coordinates[i] = static_cast<float>(position_on_line(i));
  }
  return interpolate(device, spec, {0, high, 0, high}, coordinates);
}

DeviceResult measure(const Device& device, const Problem& problem) {
  DeviceResult result{device.info(), {}, sample_line(device)};
  for (const TestImage& image : problem.images) {
    std::vector<Deviation> errors;
    for (const Method& method : methods) {
      errors.push_back(error_of(
          interpolate(device, cubic(method.precision), image.coefficients, problem.coordinates),
          image.truth));
    }
    result.errors.push_back(std::move(errors));
  }
  return result;
}

bool all_devices(const Options& options) {
  return options.devices == std::vector<std::string>{"all"};
}

std::vector<std::string> device_names(const Options& options, const Config& config) {
  if (!all_devices(options)) return options.devices;
  std::vector<std::string> names;
  for (const BackendReport& backend : list_backends(config)) {
    for (const DeviceInfo& device : backend.devices) names.push_back(device.id);
  }
  if (names.empty()) {
    throw Error(ErrorKind::device_unavailable,
                "there is no device; run 'warpalign devices' to see what is missing");
  }
  return names;
}

/// A device that the user named must work. Other devices are listed with the reason if they fail.
struct Failure {
  std::string device;
  std::string reason;
};

struct Results {
  std::vector<DeviceResult> devices;
  std::vector<Failure> failures;
};

Results measure_all(const Options& options, const Config& config, const Problem& problem) {
  Results results;
  const std::vector<std::string> names = device_names(options, config);
  Progress progress(names.size());
  for (const std::string& name : names) {
    progress.next(name);
    try {
      results.devices.push_back(measure(open_device(name, config), problem));
    } catch (const Error& error) {
      if (!all_devices(options)) throw;
      results.failures.push_back({name, error.message()});
    }
  }
  if (results.devices.empty()) {
    throw Error(ErrorKind::device_unavailable,
                fmt::format("no device works; {}: {}", results.failures.front().device,
                            results.failures.front().reason));
  }
  return results;
}

std::size_t levels_of(const std::vector<float>& line) {
  return std::set<float>(line.begin(), line.end()).size();
}

/// The line between two positions, in units of its end value.
std::vector<PlotPoint> part_of_line(const std::vector<float>& line, double from, double to) {
  std::vector<PlotPoint> points;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const double x = position_on_line(i);
    if (x >= from && x <= to) points.push_back({x, static_cast<double>(line[i]) / step_height});
  }
  return points;
}

Plot staircase(const DeviceResult& result, const std::string& title, double from, double to) {
  Plot plot;
  plot.title = title;
  plot.x_label = "position between the samples";
  plot.y_label = "value in units of 1/65535";
  plot.lines.push_back({"straight line", "#999999", {{from, from}, {to, to}}, true, false});
  plot.lines.push_back(
      {"32-bit float, linear", plot_colour(0), part_of_line(result.line, from, to), false, false});
  return plot;
}

std::string file_part(const std::string& id) {
  std::string part = id;
  std::replace(part.begin(), part.end(), ':', '-');
  return part;
}

void add_staircase(OutputFolder& folder, const DeviceResult& result) {
  constexpr double half_window = 4.5 / 256;
  const std::string filtering =
      result.device.sampling == Sampling::texture ? "texture unit" : "buffers";
  folder.add_text(
      fmt::format("staircase_{}.svg", file_part(result.device.id)),
      draw_plots({staircase(result, fmt::format("{}, {}", result.device.name, filtering), 0, 1),
                  staircase(result, fmt::format("{} values in all", levels_of(result.line)),
                            0.5 - half_window, 0.5 + half_window)}));
}

Json device_result_json(const DeviceResult& result, const Problem& problem) {
  Json entry;
  entry["device"] = device_json(result.device);
  entry["errors"] = Json::array();
  for (std::size_t i = 0; i < problem.images.size(); ++i) {
    for (std::size_t m = 0; m < methods.size(); ++m) {
      entry["errors"].push_back(Json::object({{"image", problem.images[i].name},
                                              {"precision", methods[m].name},
                                              {"rms", result.errors[i][m].rms},
                                              {"largest", result.errors[i][m].largest}}));
    }
  }
  entry["staircase"] =
      Json::object({{"file", fmt::format("staircase_{}.svg", file_part(result.device.id))},
                    {"positions", result.line.size()},
                    {"distinct_values", levels_of(result.line)}});
  return entry;
}

Json report_json(const Results& results, const Problem& problem) {
  Json report;
  report["experiment"] = "accuracy";
  report["image_shape"] = {image_shape.height, image_shape.width};
  report["points"] = points_shape.plane();
  report["seed"] = seed;
  report["step"] = step_height;
  report["devices"] = Json::array();
  for (const DeviceResult& result : results.devices) {
    report["devices"].push_back(device_result_json(result, problem));
  }
  report["failed"] = Json::array();
  for (const Failure& failure : results.failures) {
    report["failed"].push_back(
        Json::object({{"device", failure.device}, {"reason", failure.reason}}));
  }
  return report;
}

std::string table(const Results& results, const Problem& problem) {
  std::string text = "  RMS error of cubic interpolation against double precision\n";
  for (const DeviceResult& result : results.devices) {
    text += fmt::format("\n  {} ({})\n", result.device.name, result.device.id);
    if (result.device.sampling != Sampling::texture) {
      text += fmt::format("  without texture filtering: {}\n", result.device.sampling_reason);
    }
    text += fmt::format("  {:<14}", "");
    for (const TestImage& image : problem.images) text += fmt::format("{:>12}", image.name);
    text += '\n';
    for (std::size_t m = 0; m < methods.size(); ++m) {
      text += fmt::format("  {:<14}", methods[m].name);
      for (const auto& errors : result.errors) text += fmt::format("{:12.3e}", errors[m].rms);
      text += '\n';
    }
    text += fmt::format("  linear filtering between two samples takes {} of {} values\n",
                        levels_of(result.line), result.line.size());
  }
  for (const Failure& failure : results.failures) {
    text += fmt::format("\n  {} fails: {}\n", failure.device, failure.reason);
  }
  return text;
}

ExitStatus run(const Options& options) {
  const Config config = config_of(options.config);
  OutputFolder folder(options.folder);
  const Problem problem = make_problem();
  const Results results = measure_all(options, config, problem);
  for (const DeviceResult& result : results.devices) add_staircase(folder, result);
  add_report(folder, "accuracy.json", report_json(results, problem));
  folder.commit();
  report(fmt::format("{}{}", table(results, problem), files_line(folder)));
  return ExitStatus::ok;
}

constexpr const char* footer =
    "The experiment interpolates coefficients from 0 to 1 (512 x 512: noise, and smooth waves) at\n"
    "512 x 512 random points: with textures and a lookup table of weights, with textures and\n"
    "computed weights, and in full precision. It compares the results with double precision\n"
    "(Ruijters et al., table 1).\n"
    "\n"
    "The staircase (their figure 4) shows linear texture filtering between the samples 0 and\n"
    "1/65535: a texture unit with 8 fractional bits returns 257 values. It uses float data only,\n"
    "because 16-bit integer images are converted to float before they are filtered.\n"
    "\n"
    "Output files: accuracy.json, and staircase_*.svg for each device.\n"
    "\n"
    "Examples:\n"
    "  warpalign experiment accuracy\n"
    "  warpalign experiment accuracy --devices cuda:0,opencl:pocl --output-folder accuracy\n";

}  // namespace

void add_accuracy_experiment(CLI::App& experiment, Action& chosen) {
  CLI::App& command = add_command(experiment, "accuracy",
                                  "Measure errors of texture filtering against double precision");
  auto options = std::make_shared<Options>();
  add_option(command, "--devices NAMES", &options->devices, "Devices, separated by commas, or all",
             comma_list_with_default);
  add_folder_option(command, options->folder);
  add_config_option(command, options->config);
  add_message_options(command);
  set_footer(command, footer);
  set_action(command, chosen, [options] { return run(*options); });
}

}  // namespace warpalign::program
