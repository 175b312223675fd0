// `warpalign transform apply` and `labels`.
#include "commands/antialiased_zoom.hpp"
#include "commands/double_splines.hpp"
#include "commands/transform/commands.hpp"
#include "commands/transform/options.hpp"
#include "io/array_file.hpp"
#include "io/atomic_file.hpp"
#include "io/messages.hpp"
#include "io/usage_error.hpp"
#include "io/volume_file.hpp"
#include "options/command_line.hpp"
#include "options/common_options.hpp"
#include "options/file_names.hpp"
#include "options/interpolation_options.hpp"
#include "options/sampling_points.hpp"

#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>
#include <warpalign/tiles.hpp>

#include <fmt/format.h>

#include <memory>

namespace warpalign::program {
namespace {

struct Options {
  TransformOptions transform;
  std::string file;
  std::string input;
  std::string output;
  std::optional<std::string> like;
  bool inverse = false;
  std::optional<std::string> antialias;
  DeviceOptions device;
  InterpolationOptions interpolation;
};

/// An image, channel by channel, or a volume.
std::vector<Array> load_input(const std::string& name) {
  if (is_nifti_name(name)) return {load_volume(name).voxels};
  return load_array_file(name).channels;
}

std::vector<std::int64_t> extents_of(const PointGrid& grid, int dimensions) {
  const Shape& s = grid.shape;
  if (dimensions == 2) return {s.height, s.width};
  return {s.depth, s.height, s.width};
}

/// The transform from pixels of the output to pixels of the input.
Transform chosen_transform(const Options& options, const transform_files::TransformFile& file) {
  if (file.transforms.size() != 1) {
    throw UsageError(fmt::format(
        "{}: holds {} transforms; apply takes one, and 'warpalign stack --apply' those of a stack",
        options.file, file.transforms.size()));
  }
  const Transform transform = in_pixels(file.transforms.front(), file.geometry, options.file);
  return options.inverse ? inverse_of(transform, options.file) : transform;
}

/// The coordinates of the output's pixels: all x, all y, and all z.
std::vector<float> coordinates_of(const Transform& transform, const PointGrid& pixels) {
  const auto count = static_cast<std::size_t>(pixels.shape.pixels());
  const auto axes = static_cast<std::size_t>(transform.dimensions());
  std::vector<float> coordinates(axes * count);
  std::vector<float*> components;
  for (std::size_t a = 0; a < axes; ++a) components.push_back(coordinates.data() + a * count);
  transform.positions(pixels, components);
  return coordinates;
}

std::vector<Array> warped(const Device& device, const SplineModel& spline,
                          const std::vector<Array>& input, const Transform& transform,
                          const PointGrid& pixels) {
  const Array& first = input.front();
  TiledResampler resampler(device,
                           {.spline = spline,
                            .images = {.shape = first.shape(), .dimensions = first.dimensions()},
                            .output = pixels.shape,
                            .input = first.type,
                            .output_type = first.type});
  const auto matrix = transform.matrix();
  std::vector<float> coordinates;
  if (!matrix) coordinates = coordinates_of(transform, pixels);
  std::vector<Array> results;
  for (const Array& channel : input) {
    results.push_back(make_array(extents_of(pixels, first.dimensions()), channel.type));
    std::byte* output = results.back().bytes.data();
    if (matrix) {
      resampler.execute(channel.bytes.data(), *matrix, output);
    } else {
      resampler.execute(channel.bytes.data(), coordinates, output);
    }
  }
  return results;
}

/// The points at which the pixels are read, in double precision.
SamplingPoints sampling_points_of(const Transform& transform, const PointGrid& pixels) {
  SamplingPoints points;
  points.extents = extents_of(pixels, transform.dimensions());
  points.stage_shape = pixels.shape;
  if (const auto matrix = transform.matrix()) {
    points.transform = *matrix;
    return points;
  }
  const auto count = static_cast<std::size_t>(pixels.shape.pixels());
  const auto axes = static_cast<std::size_t>(transform.dimensions());
  std::vector<std::int64_t> extents = points.extents;
  extents.insert(extents.begin(), transform.dimensions());
  points.coordinates = make_array(extents, PixelType::f64);
  std::vector<double*> components;
  for (std::size_t a = 0; a < axes; ++a) {
    components.push_back(points.coordinates->samples<double>().data() + a * count);
  }
  transform.positions(pixels, components);
  return points;
}

/// Each pixel as the mean over its footprint in the input.
std::vector<Array> warped_by_footprints(const Options& options, const Device& device,
                                        const SplineModel& spline, const std::vector<Array>& input,
                                        const Transform& transform, const PointGrid& pixels) {
  const SamplingPoints points = sampling_points_of(transform, pixels);
  const bool varies = points.coordinates || !points.transform.is_affine();
  std::optional<DoubleResampler> in_double;
  if (varies) {
    check_double(device, input.front(), options.input, "--antialias with a transform that bends");
    in_double.emplace(device, spline, input.front(), points, true);
  }
  std::vector<Array> results;
  for (const Array& channel : input) {
    results.push_back(varies
                          ? in_double->resample(channel, channel.type)
                          : warped_without_aliasing(device, spline, channel, points, channel.type));
  }
  return results;
}

void check_antialias(const Options& options, const SplineModel& spline) {
  if (options.antialias && *options.antialias != "gaussian") {
    throw UsageError(fmt::format("invalid value '{}' for --antialias (choose from: gaussian)",
                                 *options.antialias));
  }
  static_cast<void>(antialias_of(options.antialias, PointOptions{}, spline));
}

std::vector<std::byte> encoded(const Options& options, const std::vector<Array>& result) {
  if (!is_nifti_name(options.output)) return encode_arrays(options.output, result);
  // The result lies where the image does whose grid it has.
  const std::string& like = options.like ? *options.like : options.input;
  if (is_nifti_name(like)) {
    return encode_volume(options.output, result.front(), load_volume(like), {1, 1, 1});
  }
  VolumeFile none;  // has no header, so that the file gets the spacing alone
  none.name = like;
  return encode_volume(options.output, result.front(), none, {1, 1, 1});
}

ExitStatus run(const Options& options) {
  if (!is_nifti_name(options.output)) check_written_name(options.output);
  std::vector<std::string> inputs{options.input, options.file};
  if (options.like) inputs.push_back(*options.like);
  check_outputs({{"OUT", options.output}}, inputs);
  const SplineModel spline = spline_of(options.interpolation);
  check_antialias(options, spline);
  const Config config = config_of(options.device.config);
  const std::vector<Array> input = load_input(options.input);
  TransformOptions images = options.transform;
  // The images are those of the command, unless others are named.
  const bool back = options.inverse;
  auto& onto = back ? images.moving : images.reference;
  auto& of = back ? images.reference : images.moving;
  if (!onto && options.like) onto = options.like;
  if (!of) of = options.input;
  const Transform transform = chosen_transform(options, images.load(options.file));
  const int dimensions = input.front().dimensions();
  if (dimensions != transform.dimensions()) {
    throw UsageError(fmt::format("{}: has {} dimensions, and the transform {}", options.input,
                                 dimensions, transform.dimensions()));
  }
  const Shape shape = options.like ? load_grid(*options.like).shape : input.front().shape();
  const PointGrid pixels{.shape = shape};
  const std::vector<std::int64_t> extents = extents_of(pixels, dimensions);
  if (is_nifti_name(options.output)) {
    check_volume_storable(options.output, extents, input.front().type);
  } else {
    check_storable(options.output, input.size(), extents, input.front().type);
  }
  AtomicFile file(options.output);
  const Device device = open_for_one_job(options.device, config);
  const std::vector<Array> result =
      options.antialias ? warped_by_footprints(options, device, spline, input, transform, pixels)
                        : warped(device, spline, input, transform, pixels);
  file.write(encoded(options, result));
  file.commit();
  return ExitStatus::ok;
}

void add_common(CLI::App& command, Options& options) {
  add_option(command, "TRANSFORM", &options.file, "The file of the transform", required);
  add_option(command, "IN", &options.input, "The moving image, volume or .npy array", required);
  add_option(command, "OUT", &options.output,
             "The file to write (.npy .nii .png .tif .jpg .pgm .ppm)", required);
  add_option(command, "--like FILE", &options.like,
             "The reference, whose pixels OUT gets [those of IN]");
  add_option(command, "--inverse", &options.inverse,
             "IN is an image of the reference: lay it on the moving image");
  add_transform_options(command, options.transform);
}

}  // namespace

void add_transform_apply_command(CLI::App& parent, Action& chosen) {
  CLI::App& command = add_command(parent, "apply", "Warp an image or volume to the reference");
  auto options = std::make_shared<Options>();
  options->interpolation.boundary = "constant";
  add_common(command, *options);
  add_option(command, "--antialias NAME", &options->antialias,
             "Smooth where OUT has fewer pixels than IN: gaussian", suggesting("gaussian"));
  add_interpolation_options(command, options->interpolation);
  add_device_options(command, options->device);
  add_limit_options(command);
  set_footer(command,
             "The image is interpolated once, with the options of 'resample'.\n"
             "\n"
             "Examples:\n"
             "  warpalign transform apply found.json red.tif aligned.tif --like green.tif\n"
             "  warpalign transform apply t1.lta t1.nii.gz aligned.nii.gz --like mni.nii.gz\n"
             "  warpalign transform apply warp.nii t1.nii low.nii --like bold.nii "
             "--antialias gaussian\n");
  set_action(command, chosen, [options] { return run(*options); });
}

void add_transform_labels_command(CLI::App& parent, Action& chosen) {
  CLI::App& command =
      add_command(parent, "labels", "Warp a label map or mask to the reference, unmixed");
  auto options = std::make_shared<Options>();
  options->interpolation.degree = 0;
  options->interpolation.boundary = "constant";
  add_common(command, *options);
  add_device_options(command, options->device);
  add_limit_options(command);
  set_footer(command,
             "Each pixel gets the label of the nearest pixel of IN, and 0 outside.\n"
             "\n"
             "Examples:\n"
             "  warpalign transform labels found.json cells.tif aligned.tif --like green.tif\n"
             "  warpalign transform labels t1.tfm aseg.nii.gz back.nii.gz --like mni.nii.gz\n");
  set_action(command, chosen, [options] { return run(*options); });
}

}  // namespace warpalign::program
