// `warpalign resample`: resamples an image or array at given points.
#include "commands/commands.hpp"
#include "io/array_file.hpp"
#include "io/atomic_file.hpp"
#include "io/messages.hpp"
#include "io/status_line.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"
#include "options/common_options.hpp"
#include "options/file_names.hpp"
#include "options/interpolation_options.hpp"
#include "options/sampling_points.hpp"

#include <warpalign/open_device.hpp>
#include <warpalign/tiles.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <span>

namespace warpalign::program {
namespace {

struct Options {
  std::string input;
  std::string output;
  DeviceOptions device;
  PointOptions points;
  InterpolationOptions interpolation;
};

void check_names(const Options& options) {
  check_written_name(options.output);
  std::vector<std::string> inputs{options.input};
  if (options.points.coordinates) inputs.push_back(*options.points.coordinates);
  if (options.points.field) inputs.push_back(*options.points.field);
  check_outputs({{"OUT", options.output}}, inputs);
}

void check_precision(const Options& options, const Array& input) {
  if (options.interpolation.precision == "full") return;
  if (input.dimensions() >= 2 && input.type != PixelType::c32) return;
  throw UsageError(
      fmt::format("--precision {}: requires real numbers in 2 or 3 dimensions; {} is {}",
                  options.interpolation.precision, options.input, describe(input)));
}

/// A field of coordinates, x first.
std::span<const float> floats_of(const Array& coordinates) {
  return {reinterpret_cast<const float*>(coordinates.bytes.data()),
          coordinates.bytes.size() / sizeof(float)};
}

/// Resamples every channel at the same points, in its type. Splits the work into tiles if the
/// device memory is too small.
std::vector<Array> resample(const Device& device, const SplineModel& spline,
                            const std::vector<Array>& channels, const SamplingPoints& points) {
  const Array& first = channels.front();
  TiledResampler resampler(device,
                           {.spline = spline,
                            .images = {.shape = first.shape(), .dimensions = first.dimensions()},
                            .output = points.stage_shape,
                            .input = first.type,
                            .output_type = first.type});
  std::vector<Array> results;
  for (const Array& channel : channels) {
    results.push_back(make_array(points.extents, channel.type));
    std::byte* output = results.back().bytes.data();
    if (points.coordinates) {
      resampler.execute(channel.bytes.data(), floats_of(*points.coordinates), output);
    } else {
      resampler.execute(channel.bytes.data(), points.transform, output);
    }
  }
  return results;
}

std::string sampling_words(const Device& device, const Options& options) {
  if (options.interpolation.precision == "full") return {};
  if (device.info().sampling == Sampling::texture) {
    return ", in the precision of its texture unit or better";
  }
  return fmt::format(", filtered from buffers ({})", device.info().sampling_reason);
}

ExitStatus run(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  check_names(options);
  check_points(options.points);
  const SplineModel spline = spline_of(options.interpolation);
  const Config config = config_of(options.device.config);
  Activity activity("reading " + options.input);
  const ArrayFile input = load_array_file(options.input);
  check_precision(options, input.first());
  const SamplingPoints points = points_of(options.points, input.first().extents);
  check_storable(options.output, input.channels.size(), points.extents, input.first().type);
  AtomicFile file(options.output);

  activity.next("opening the device");
  const Device device = open_for_one_job(options.device, config);
  activity.next("resampling");
  const std::vector<Array> result = resample(device, spline, input.channels, points);
  activity.next("writing " + options.output);
  file.write(encode_arrays(options.output, result));
  file.commit();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report(
      fmt::format("  input    {} ({})\n"
                  "  output   {} ({})\n"
                  "  spline   degree {}, prefilter {}, boundary {}, precision {}\n"
                  "  device   {} ({}, {}){}\n"
                  "  time     {:.2f} s, files and start of the device included\n",
                  options.input, input.description, options.output, describe(result.front()),
                  spline.degree, prefilter_name(spline), name_of(spline.boundary),
                  options.interpolation.precision, device.info().name, device.info().id,
                  device.info().platform, sampling_words(device, options), seconds));
  return ExitStatus::ok;
}

constexpr const char* footer =
    "IN and OUT: images (PNG, TIFF, JPEG, PGM/PPM) or .npy arrays of 1 to 3 dimensions (integers\n"
    "of 8 to 32 bits, float16 to float64, complex64). Each channel is resampled separately. The\n"
    "interpolation uses single precision. OUT has IN's type; integers are rounded and saturated.\n"
    "\n"
    "Output pixel (x, y) is read at (pixel centres have integer coordinates):\n"
    "  --matrix \"a,b,c,d,e,f\"  (a x + b y + c, d x + e y + f). Three dimensions take 12 "
    "numbers,\n"
    "                         three rows over (x, y, z, 1); one dimension takes two, \"a,b\"\n"
    "  --rotate DEG           the point that rotates the image counter-clockwise as displayed\n"
    "  --zoom F               F times as many pixels along each axis, rounded; the centres of the\n"
    "                         corner pixels stay where they are\n"
    "  --coordinates C.npy    C[:, i, j], in SciPy's order: (y, x) or (z, y, x). OUT gets the\n"
    "                         shape C.shape[1:]. Coordinates are used as float32\n"
    "  --field U.npy          (x + U[0, y, x], y + U[1, y, x]): displacements in pixels, as "
    "written by\n"
    "                         register --motion local, whose --output uses --boundary constant\n"
    "--shape sets OUT's extents. The first pixel stays in place; the far ends are cropped or "
    "extended.\n"
    "\n"
    "Degrees 0 and 1 (nearest, linear) need no prefilter. --prefilter none uses the samples as\n"
    "coefficients, which smooths the result.\n"
    "\n"
    "If the work needs more than three quarters of the device's memory, or more than\n"
    "WARPALIGN_MAX_DEVICE_MEMORY (such as 800M or 4G), it is split into tiles.\n"
    "\n"
    "Exit status: 0 done; 2 wrong usage or input, nothing is written; 3 device trouble.\n"
    "\n"
    "Examples:\n"
    "  warpalign resample in.png rotated.png --rotate 30\n"
    "  warpalign resample in.tif larger.tif --zoom 2.5 --degree 5\n"
    "  warpalign resample in.npy out.npy --coordinates c.npy --boundary nearest\n"
    "  warpalign resample mask.png aligned.png --field field.npy --degree 0\n"
    "  warpalign resample in.png moved.png --matrix \"1,0,2.5,0,1,-3\" --shape 480x640\n";

}  // namespace

void add_resample_command(CLI::App& program, Action& chosen) {
  CLI::App& command =
      add_command(program, "resample", "Resample an image or array at given points with B-splines",
                  "Interpolation");
  auto options = std::make_shared<Options>();
  PointOptions& points = options->points;
  add_option(command, "IN", &options->input, "The image or .npy array", required);
  add_option(command, "OUT", &options->output, "The file to write (.npy .png .tif .jpg .pgm .ppm)",
             required);
  begin_group(command, "Where to read");
  add_option(command, "--matrix NUMBERS", &points.matrix,
             "Matrix from output to input: 6 numbers, or 12 in 3-D");
  add_option(command, "--rotate DEG", &points.rotate,
             "Rotate counter-clockwise by this many degrees");
  add_option(command, "--center X,Y", &points.center,
             "The centre of rotation [the image's centre]");
  add_option(command, "--zoom F", &points.zoom, "Enlarge by this factor");
  add_option(command, "--coordinates FILE", &points.coordinates,
             "Read at the points in this .npy file");
  add_option(command, "--field FILE", &points.field,
             "Read at the pixels displaced by the field in this .npy file");
  add_option(command, "--shape HxW", &points.shape, "Extents of the output: HxW, or DxHxW in 3-D");
  add_interpolation_options(command, options->interpolation);
  add_precision_option(command, options->interpolation);
  add_device_options(command, options->device);
  add_limit_options(command);
  add_message_options(command);
  set_footer(command, footer);
  set_action(command, chosen, [options] { return run(*options); });
}

}  // namespace warpalign::program
