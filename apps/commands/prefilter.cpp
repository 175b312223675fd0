// `warpalign prefilter`: computes the B-spline coefficients of an array.
#include "commands/commands.hpp"
#include "commands/double_splines.hpp"
#include "io/array_file.hpp"
#include "io/atomic_file.hpp"
#include "io/messages.hpp"
#include "io/status_line.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"
#include "options/common_options.hpp"
#include "options/file_names.hpp"
#include "options/interpolation_options.hpp"

#include <warpalign/open_device.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>

namespace warpalign::program {
namespace {

struct Options {
  std::string input;
  std::string output;
  DeviceOptions device;
  InterpolationOptions interpolation;
};

SplineModel checked(const Options& options) {
  if (!is_npy_name(options.output)) {
    throw UsageError(fmt::format(
        "{}: coefficients are written as .npy; use a name that ends in .npy", options.output));
  }
  check_outputs({{"OUT", options.output}}, {options.input});
  const SplineModel spline = spline_of(options.interpolation);
  if (options.interpolation.precision != "full" && !is_double(options.interpolation)) {
    throw UsageError(fmt::format("--precision {}: is for resample only (choose from: full, double)",
                                 options.interpolation.precision));
  }
  if (spline.degree < 2) {
    throw UsageError(fmt::format(
        "--degree {}: needs no prefilter, because its coefficients are the samples; choose 2 to 5",
        spline.degree));
  }
  if (!spline.prefilter) {
    throw UsageError(
        "--prefilter none: is for resample only (choose from: exact, fir:N, iir:line)");
  }
  return spline;
}

std::vector<std::int64_t> extents_of(const Shape& shape, int dimensions) {
  if (dimensions == 1) return {shape.width};
  if (dimensions == 2) return {shape.height, shape.width};
  return {shape.depth, shape.height, shape.width};
}

Array prefilter(const Device& device, const PrefilterSpec& spec, const Array& samples,
                Array coefficients) {
  const PrefilterPlan plan(device, spec);
  Stream stream = device.make_stream();
  Image input = device.make_image(spec.input, spec.images.shape);
  Image output = device.make_image(coefficients.type, coefficients.shape());
  stream.upload(samples.bytes.data(), samples.bytes.size(), input.buffer());
  plan.execute(stream, input, output);
  stream.download(output, coefficients.bytes.data(), coefficients.bytes.size());
  return coefficients;
}

ExitStatus run(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const SplineModel spline = checked(options);
  const Config config = config_of(options.device.config);
  Activity activity("reading " + options.input);
  const ArrayFile loaded = load_array_file(options.input);
  if (loaded.channels.size() != 1) {
    throw FileError(fmt::format("{}: has {} channels; save them one by one, as gray images",
                                options.input, loaded.channels.size()));
  }
  const Array& input = loaded.first();
  const PrefilterSpec spec{.spline = spline,
                           .images = {.shape = input.shape(), .dimensions = input.dimensions()},
                           .input = input.type};
  const Shape shape = PrefilterPlan::coefficient_shape(spec);
  const bool in_double = is_double(options.interpolation);
  const PixelType type = in_double ? PixelType::f64 : PrefilterPlan::coefficient_type(input.type);
  check_extents(options.output, extents_of(shape, input.dimensions()), type);
  AtomicFile file(options.output);

  activity.next("opening the device");
  const Device device = open_for_one_job(options.device, config);
  if (in_double) check_double(device, input, options.input);
  activity.next("prefiltering");
  const int margin = PrefilterPlan::margin(spec.spline.degree, spec.spline.boundary);
  const Array coefficients =
      in_double
          ? double_coefficients(device, spline, input, margin)
          : prefilter(device, spec, input, make_array(extents_of(shape, input.dimensions()), type));
  activity.next("writing " + options.output);
  file.write(write_npy(coefficients));
  file.commit();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report(
      fmt::format("  input    {} ({})\n"
                  "  output   {} ({}; {} beyond each edge)\n"
                  "  spline   degree {}, prefilter {}, boundary {}\n"
                  "  device   {} ({}, {})\n"
                  "  time     {:.2f} s, files and start of the device included\n",
                  options.input, describe(input), options.output, describe(coefficients), margin,
                  spline.degree, prefilter_name(spline), name_of(spline.boundary),
                  device.info().name, device.info().id, device.info().platform, seconds));
  return ExitStatus::ok;
}

constexpr const char* footer =
    "IN: a gray image, or .npy with 1 to 3 dimensions: integers, float16 to float64 or complex64.\n"
    "The filter runs along all dimensions. OUT.npy: float32, or complex64 if IN is complex64.\n"
    "--precision double writes float64, on devices that have it.\n"
    "\n"
    "The spline is s(x) = sum over k of c(k) beta(x - k), along every axis. The coefficients c "
    "have\n"
    "the shape of the input. With --boundary nearest and grid-constant, OUT.npy also holds the\n"
    "coefficients beyond the edge: 10, 13, 17 and 20 for degrees 2 to 5, on both sides of every\n"
    "axis. For degree 3, c[k + 13] then belongs to sample k. --boundary constant and wrap extend\n"
    "the samples as mirror does, like SciPy.\n"
    "\n"
    "Examples:\n"
    "  warpalign prefilter in.npy coefficients.npy\n"
    "  warpalign prefilter in.npy coefficients.npy --prefilter fir:15 --boundary reflect\n"
    "  warpalign prefilter in.npy coefficients.npy --degree 5 --device opencl:pocl\n";

}  // namespace

void add_prefilter_command(CLI::App& program, Action& chosen) {
  CLI::App& command = add_command(program, "prefilter",
                                  "Compute the B-spline coefficients of an array", "Interpolation");
  auto options = std::make_shared<Options>();
  add_option(command, "IN", &options->input, "The image or .npy array of samples", required);
  add_option(command, "OUT", &options->output, "The .npy array of coefficients to write", required);
  add_interpolation_options(command, options->interpolation);
  add_filter_precision_option(command, options->interpolation);
  add_processing_options(command, options->device);
  set_footer(command, footer);
  set_action(command, chosen, [options] { return run(*options); });
}

}  // namespace warpalign::program
