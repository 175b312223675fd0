// `warpalign resample`: resamples an image or array at given points.
#include "commands/antialiased_zoom.hpp"
#include "commands/commands.hpp"
#include "commands/double_splines.hpp"
#include "commands/missing_samples.hpp"
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

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::program {
namespace {

struct Options {
  std::string input;
  std::string output;
  DeviceOptions device;
  PointOptions points;
  std::optional<std::string> antialias;
  InterpolationOptions interpolation;
  MissingOptions missing;
};

struct Resampled {
  std::vector<Array> channels;
  std::vector<Array> weights;  ///< the known shares, if they are wanted
};

void check_names(const Options& options) {
  check_written_name(options.output);
  std::vector<std::string> inputs{options.input};
  if (options.points.coordinates) inputs.push_back(*options.points.coordinates);
  if (options.points.field) inputs.push_back(*options.points.field);
  if (options.missing.weights) check_written_name(*options.missing.weights);
  check_outputs({{"OUT", options.output}, {"--weights", options.missing.weights}}, inputs);
}

void check_precision(const Options& options, const Array& input) {
  const std::string& precision = options.interpolation.precision;
  if (precision == "full" || precision == "double") return;
  if (input.dimensions() >= 2 && input.type != PixelType::c32) return;
  throw UsageError(
      fmt::format("--precision {}: requires real numbers in 2 or 3 dimensions; {} is {}", precision,
                  options.input, describe(input)));
}

/// A field of coordinates, x first.
std::span<const float> floats_of(const Array& coordinates) {
  return {reinterpret_cast<const float*>(coordinates.bytes.data()),
          coordinates.bytes.size() / sizeof(float)};
}

/// Resamples arrays of one shape at the same points. Splits the work into tiles if the device
/// memory is too small, except for zooms without aliasing.
class ChannelResampler {
 public:
  ChannelResampler(const Device& device, const SplineModel& spline, const Array& first,
                   const SamplingPoints& points, std::optional<Antialias> antialias, bool zooms,
                   bool in_double)
      : device_(device),
        spline_(spline),
        first_(first),
        points_(points),
        antialias_(antialias),
        zooms_(zooms),
        zooms_in_double_(in_double) {
    if (!in_double || (antialias && zooms)) return;
    in_double_.emplace(device, spline, first, points, antialias.has_value());
    if (points.coordinates && !antialias) rounded_coordinates_ = to_float(*points.coordinates);
  }

  /// The output has the type `to`.
  Array resample(const Array& channel, PixelType to) {
    if (in_double_) return in_double_->resample(channel, to);
    if (antialias_ && !zooms_) {
      return warped_without_aliasing(device_, spline_, channel, points_, to);
    }
    if (antialias_) {
      return zoomed(device_, spline_, *antialias_, channel, points_.extents, to, zooms_in_double_);
    }
    return resample(resampler_, spline_, channel, to);
  }
  Array resample_mask(const Array& mask) {
    if (antialias_ && in_double_) {
      if (!mask_in_double_) {
        mask_in_double_.emplace(device_, mask_spline(spline_), first_, points_, true);
      }
      return mask_in_double_->resample(mask, mask.type);
    }
    if (antialias_ && !zooms_) {
      return warped_without_aliasing(device_, mask_spline(spline_), mask, points_, mask.type);
    }
    if (antialias_) {
      return zoomed(device_, mask_spline(spline_), Antialias::gaussian, mask, points_.extents,
                    mask.type, false);
    }
    return resample(of_mask_, mask_spline(spline_), mask, mask.type);
  }

 private:
  struct Kept {
    std::optional<TiledResampler> resampler;
    PixelType type = PixelType::f32;  ///< of its input
  };

  Array resample(Kept& kept, const SplineModel& spline, const Array& from, PixelType to) {
    if (!kept.resampler || kept.type != from.type) {
      kept.type = from.type;
      kept.resampler.emplace(device_, ResampleSpec{.spline = spline,
                                                   .images = {.shape = first_.shape(),
                                                              .dimensions = first_.dimensions()},
                                                   .output = points_.stage_shape,
                                                   .input = from.type,
                                                   .output_type = to});
    }
    Array result = make_array(points_.extents, to);
    if (points_.coordinates) {
      kept.resampler->execute(from.bytes.data(), floats_of(coordinates()), result.bytes.data());
    } else {
      kept.resampler->execute(from.bytes.data(), points_.transform, result.bytes.data());
    }
    return result;
  }

  [[nodiscard]] const Array& coordinates() const {
    return rounded_coordinates_ ? *rounded_coordinates_ : *points_.coordinates;
  }

  Device device_;
  SplineModel spline_;
  const Array& first_;
  const SamplingPoints& points_;
  std::optional<Antialias> antialias_;
  bool zooms_, zooms_in_double_;
  Kept resampler_, of_mask_;
  std::optional<DoubleResampler> in_double_, mask_in_double_;
  std::optional<Array> rounded_coordinates_;  ///< for the mask, if the coordinates are f64
};

Array all_known(const std::vector<std::int64_t>& extents) {
  Array mask = make_array(extents, PixelType::f32);
  std::ranges::fill(mask.samples<float>(), 1.0F);
  return mask;
}

/// Resamples every channel in its type.
Resampled resample(const Device& device, const SplineModel& spline,
                   const std::vector<Array>& channels, const SamplingPoints& points,
                   std::optional<Antialias> antialias, bool in_double, const Options& options) {
  ChannelResampler resampler(device, spline, channels.front(), points, antialias,
                             options.points.zoom.has_value(), in_double);
  Resampled results;
  const MissingOptions& missing = options.missing;
  const bool keeps_weights = missing.weights.has_value();
  // With `grid_constant`, cval may be the nodata value.
  const bool avoids = spline.boundary != Boundary::grid_constant || spline.cval != missing.nodata;
  // Degree 0 copies missing samples like others.
  const bool ignores = missing.missing == "ignore" && (spline.degree > 0 || keeps_weights);
  for (const Array& channel : channels) {
    std::optional<FilledArray> holed;
    if (ignores) holed = filled(channel, missing.nodata, options.input, in_double);
    const bool uses_filled = holed && spline.degree > 0;
    Array result = resampler.resample(uses_filled ? holed->samples : channel, channel.type);
    const bool may_look_missing = ignores && avoids && looks_missing(result, missing.nodata);
    if (holed || keeps_weights || may_look_missing) {
      Array weights = resampler.resample_mask(holed ? holed->mask : all_known(channel.extents));
      const std::vector<SampleKind> kinds = kinds_of(weights, spline.boundary);
      if (spline.degree > 0) set_missing(result, kinds, missing.nodata, avoids);
      if (keeps_weights) results.weights.push_back(std::move(weights));
    }
    results.channels.push_back(std::move(result));
  }
  return results;
}

std::string sampling_words(const Device& device, const Options& options) {
  const std::string& precision = options.interpolation.precision;
  if (precision == "full" || precision == "double") return {};
  if (device.info().sampling == Sampling::texture) {
    return ", in the precision of its texture unit or better";
  }
  return fmt::format(", filtered from buffers ({})", device.info().sampling_reason);
}

ExitStatus run(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  check_names(options);
  check_points(options.points);
  check_missing(options.missing);
  const SplineModel spline = spline_of(options.interpolation);
  const std::optional<Antialias> antialias =
      antialias_of(options.antialias, options.points, spline);
  // Footprints of explicit points differ from pixel to pixel, which needs double precision.
  const bool needs_double = antialias && (options.points.coordinates || options.points.field);
  const bool in_double = needs_double || is_double(options.interpolation);
  const Config config = config_of(options.device.config);
  Activity activity("reading " + options.input);
  const ArrayFile input = load_array_file(options.input);
  check_precision(options, input.first());
  check_nodata(options.missing, input.first().type);
  const SamplingPoints points = points_of(options.points, input.first().extents, in_double);
  check_projection(antialias, input.first().extents, points.extents);
  check_grid_of_points(antialias, points, input.first().extents);
  check_storable(options.output, input.channels.size(), points.extents, input.first().type);
  AtomicFile file(options.output);
  std::optional<AtomicFile> weights_file;
  if (options.missing.weights) {
    check_storable(*options.missing.weights, input.channels.size(), points.extents, PixelType::f32);
    weights_file.emplace(*options.missing.weights);
  }

  activity.next("opening the device");
  const Device device = open_for_one_job(options.device, config);
  if (in_double) {
    check_double(device, input.first(), options.input,
                 is_double(options.interpolation) ? "--precision double"
                                                  : "--antialias with explicit points");
  }
  activity.next("resampling");
  const auto [result, weights] =
      resample(device, spline, input.channels, points, antialias, in_double, options);
  activity.next("writing " + options.output);
  file.write(encode_arrays(options.output, result));
  if (weights_file) weights_file->write(encode_arrays(*options.missing.weights, weights));
  file.commit();
  if (weights_file) weights_file->commit();
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
    "of 8 to 32 bits, float16 to float64, complex64). Each channel is resampled separately, in\n"
    "single precision, or with --precision double in double precision, on devices that have it.\n"
    "OUT has IN's type; integers are rounded and saturated.\n"
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
    "--antialias gaussian smooths where OUT is smaller than IN, by the ellipse that a pixel of "
    "OUT\n"
    "covers in IN; with --zoom as scikit-image's resize does. --antialias least-squares (--zoom "
    "only)\n"
    "takes the nearest spline in the mean square. Without it, reductions alias.\n"
    "--shape sets OUT's extents. The first pixel stays in place; the far ends are cropped or "
    "extended.\n"
    "\n"
    "Degrees 0 and 1 (nearest, linear) need no prefilter. --prefilter none uses the samples as\n"
    "coefficients, which smooths the result.\n"
    "\n"
    "Missing samples are NaN or infinite, or equal --nodata. With --missing ignore they are "
    "filled\n"
    "smoothly before the prefilter, and OUT is missing (NaN, or the nodata value) where less than\n"
    "half of the spline's support is known. --weights writes the known share. With --missing "
    "spread,\n"
    "one NaN spreads over most of OUT at degrees above 1, as in SciPy. Degree 0 copies samples.\n"
    "\n"
    "If the work needs more than three quarters of the device's memory, or more than\n"
    "WARPALIGN_MAX_DEVICE_MEMORY (such as 800M or 4G), it is split into tiles.\n"
    "\n"
    "Exit status: 0 done; 2 wrong usage or input, nothing is written; 3 device trouble.\n"
    "\n"
    "Examples:\n"
    "  warpalign resample in.png rotated.png --rotate 30\n"
    "  warpalign resample in.tif larger.tif --zoom 2.5 --degree 5\n"
    "  warpalign resample in.tif smaller.tif --zoom 0.25 --antialias gaussian\n"
    "  warpalign resample in.npy out.npy --coordinates c.npy --boundary nearest\n"
    "  warpalign resample mask.png aligned.png --field field.npy --degree 0\n"
    "  warpalign resample dem.tif rotated.tif --rotate 10 --nodata -9999\n"
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
  add_option(command, "--antialias NAME", &options->antialias,
             "Avoid aliasing where the output is smaller, by this method",
             suggesting("gaussian least-squares"));
  add_interpolation_options(command, options->interpolation);
  add_precision_option(command, options->interpolation);
  begin_group(command, "Missing samples");
  add_option(command, "--missing NAME", &options->missing.missing,
             "ignore: missing samples stay missing and change nothing else; spread: as in SciPy",
             suggesting("ignore spread", with_default));
  add_option(command, "--nodata VALUE", &options->missing.nodata,
             "Samples with this value are missing, too; it is written back");
  add_option(command, "--weights FILE", &options->missing.weights,
             "Write the known share of each output's support, 0 to 1, as float32");
  add_processing_options(command, options->device);
  set_footer(command, footer);
  set_action(command, chosen, [options] { return run(*options); });
}

}  // namespace warpalign::program
