// `warpalign template`: the mean of several images or volumes in shape and intensity.
#include "commands/commands.hpp"
#include "commands/template_files.hpp"
#include "io/array_file.hpp"
#include "io/atomic_file.hpp"
#include "io/frames/input_files.hpp"
#include "io/image_name.hpp"
#include "io/messages.hpp"
#include "io/nifti.hpp"
#include "io/output_folder.hpp"
#include "io/progress.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"
#include "options/common_options.hpp"
#include "options/file_names.hpp"
#include "options/number_list.hpp"
#include "options/registration_options.hpp"
#include "options/volume_options.hpp"
#include "reports/template_report.hpp"
#include "reports/template_sheet.hpp"

#include <warpalign/error.hpp>
#include <warpalign/template.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {
namespace {

constexpr int max_rounds = 100;

struct Options {
  std::vector<std::string> images;
  std::vector<std::string> masks;
  std::optional<double> nodata;
  DeviceOptions device;
  std::string output;
  std::optional<std::string> transforms;
  std::optional<std::string> sheet;
  std::optional<std::string> initial;
  std::optional<std::string> motion;
  std::optional<std::string> modality;
  std::optional<std::string> spacing;
  std::optional<double> max_rotation;
  std::optional<std::string> grid_spacing;
  std::optional<std::string> bending_weight;
  int rounds = TemplateOptions{}.rounds;
  bool json = false;
};

bool is_template_motion(const std::string& name) {
  return name == "rigid" || name == "similarity" || name == "affine" || name == "deformable";
}

/// The options that do not depend on whether the files are images or volumes.
void check_options(const Options& options) {
  if (options.motion && !is_template_motion(*options.motion)) {
    throw UsageError(fmt::format(
        "invalid value '{}' for --motion (choose from: rigid, similarity, affine, deformable)",
        *options.motion));
  }
  if (options.rounds < 1 || options.rounds > max_rounds) {
    throw UsageError(fmt::format("--rounds {}: must be from 1 to {}", options.rounds, max_rounds));
  }
  if (options.sheet && format_of_name(*options.sheet) != FileFormat::png) {
    throw UsageError(
        fmt::format("--sheet {}: is written as PNG; use a name that ends in .png", *options.sheet));
  }
}

TemplateInputs inputs_of(const Options& options) {
  return {input_files(options.images), input_files(options.masks), options.initial, options.spacing,
          options.nodata};
}

void check_names(const Options& options, const TemplateInputs& files) {
  std::vector<std::string> inputs = files.names;
  inputs.insert(inputs.end(), files.masks.begin(), files.masks.end());
  if (files.initial) inputs.push_back(*files.initial);
  for (std::string& input : inputs) input = image_name(input).file.string();
  check_outputs({{"--output", options.output}, {"--sheet", options.sheet}}, inputs);
}

/// Throws UsageError or FileError if --output cannot hold the template.
void check_output(const Options& options, const TemplateFiles& files) {
  if (!files.are_volumes()) {
    check_written_name(options.output);
    return check_storable(options.output, 1, files.extents(), PixelType::f32);
  }
  if (!is_npy_name(options.output) && !is_nifti_name(options.output)) {
    throw UsageError(
        fmt::format("--output {}: volumes are written as .npy, .nii or .nii.gz; use a name that "
                    "ends in one of these",
                    options.output));
  }
  check_volume_storable(options.output, files.extents(), PixelType::f32);
}

/// Throws UsageError, naming the option.
RegistrationOptions image_settings(const Options& options) {
  if (options.max_rotation) {
    throw UsageError("--max-rotation: is for volumes, but these are images; omit it");
  }
  RegistrationChoices choices;
  choices.motion = options.motion.value_or("deformable");
  choices.by_name["modality"] = options.modality;
  choices.by_name["grid_spacing"] = options.grid_spacing;
  choices.by_name["bending_weight"] = options.bending_weight;
  return registration_options_of(choices);
}

/// The same for volumes. Those of the files are set later.
VolumeRegistrationOptions volume_settings(const Options& options) {
  RegistrationOptions of_images;  // for the names of the motions
  set_option(of_images, "motion", options.motion.value_or("deformable"));
  VolumeRegistrationOptions settings;
  settings.motion = of_images.motion;
  settings.modality = volume_modality_of(options.modality);
  if (options.max_rotation) settings.max_rotation = checked_rotation(*options.max_rotation);
  settings.grid_spacing = parse_number("--grid-spacing", options.grid_spacing);
  const auto weight = parse_number("--bending-weight", options.bending_weight);
  refuse_without_deformation(settings.motion, settings.grid_spacing, weight);
  settings.bending_weight = bending_weight_of(weight);
  return settings;
}

/// The options of the registrations: of images or of volumes.
struct Settings {
  RegistrationOptions images;
  VolumeRegistrationOptions volumes;
  [[nodiscard]] Motion motion(const TemplateFiles& files) const {
    return files.are_volumes() ? volumes.motion : images.motion;
  }
  [[nodiscard]] Modality modality(const TemplateFiles& files) const {
    return files.are_volumes() ? volumes.modality : images.modality;
  }
};

Settings settings_of(const Options& options, const TemplateFiles& files) {
  Settings settings;
  if (files.are_volumes()) {
    settings.volumes = volume_settings(options);
  } else {
    settings.images = image_settings(options);
  }
  return settings;
}

void set_spacings(const TemplateFiles& files, VolumeRegistrationOptions& settings) {
  settings.reference_spacing = files.grid_spacing();
  settings.moving_spacing = files.spacing();
  if (!settings.grid_spacing) return;
  const auto& extents = files.extents();
  check_grid_spacing(*settings.grid_spacing, {extents[2], extents[1], extents[0]},
                     settings.reference_spacing);
}

/// The registrations did not lead to a template. It is a result, not wrong input.
struct NoTemplate {
  std::string reason;
};

Template build(const Device& device, const TemplateFiles& files, const Settings& settings,
               const TemplateOptions& options) {
  if (files.are_volumes()) {
    const auto initial = files.initial_volume();
    return build_volume_template(
        device, files.size(), [&](std::size_t i) { return files.volume(i); }, settings.volumes,
        options, initial ? std::optional(initial->volume) : std::nullopt);
  }
  const auto initial = files.initial_image();
  return build_template(
      device, files.size(), [&](std::size_t i) { return files.image(i); }, settings.images, options,
      initial ? std::optional(initial->image) : std::nullopt);
}

/// Builds the template, with progress, and with the files' names in errors. Throws NoTemplate if
/// too few images register reliably.
Template build_with_progress(const Device& device, const TemplateFiles& files,
                             const Settings& settings, int rounds) {
  const std::size_t count = files.size();
  Progress progress(count * static_cast<std::size_t>(rounds));
  const auto announce = [&](std::size_t done) {
    progress.next(
        fmt::format("round {} of {}: {}", done / count + 1, rounds, files.names()[done % count]));
  };
  bool has_begun = false;
  TemplateOptions options;
  options.rounds = rounds;
  options.progress = [&](std::size_t done, std::size_t total) {
    has_begun = true;
    if (done < total) announce(done);
  };
  announce(0);
  try {
    return build(device, files, settings, options);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::invalid_image && has_begun) {
      throw NoTemplate{files.with_names(error.message())};
    }
    if (error.kind() != ErrorKind::invalid_image && error.kind() != ErrorKind::invalid_argument) {
      throw;
    }
    throw UsageError(files.with_names(error.message()));
  }
}

/// "subject.nii.gz" without its endings.
std::string stem_of(const std::string& name) {
  std::filesystem::path file = image_name(name).file.filename();
  if (file.extension() == ".gz") file = file.stem();
  return file.stem().string();
}

std::vector<std::byte> bytes_of(const std::string& text) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

/// The output files: opened before the work, so that it is not in vain.
class Outputs {
 public:
  explicit Outputs(const Options& options) : options_(options), output_(options.output) {
    if (options.sheet) sheet_.emplace(*options.sheet);
    if (options.transforms) folder_.emplace(*options.transforms);
  }

  void write(const TemplateFiles& files, const TemplateSheet& sheet, TemplateReport& report) {
    const Array array = array_of(files, report.found);
    if (sheet_) write_sheet(sheet, array, report);
    output_.write(files.are_volumes()
                      ? encode_volume(options_.output, array, files.grid(), spacing_of(files))
                      : encode_arrays(options_.output, {array}));
    if (folder_) write_transforms(files, report);
    output_.commit();
    if (sheet_) sheet_->commit();
    report.files.insert(report.files.begin(), {"template", options_.output, describe(array)});
  }

 private:
  static std::array<double, 3> spacing_of(const TemplateFiles& files) {
    const Point3& s = files.grid_spacing();
    return {s.x, s.y, s.z};
  }

  static Array array_of(const TemplateFiles& files, Template& found) {
    Array array = make_array(files.extents(), PixelType::f32);
    std::ranges::copy(found.pixels, array.samples<float>().begin());
    found.pixels = {};
    return array;
  }

  void write_sheet(const TemplateSheet& sheet, const Array& array, TemplateReport& report) {
    std::vector<bool> used;
    for (const auto& transform : report.found.transforms) used.push_back(transform.has_value());
    const bool is_volume = array.dimensions() == 3;
    const LoadedImage picture = sheet.draw(is_volume ? middle_plane(array) : array, used);
    sheet_->write(encode_image(picture, FileFormat::png));
    report.files.push_back({"sheet", *options_.sheet, describe(picture)});
  }

  void write_transforms(const TemplateFiles& files, TemplateReport& report) {
    const auto digits = std::to_string(files.size() - 1).size();
    for (std::size_t i = 0; i < files.size(); ++i) {
      const auto& transform = report.found.transforms[i];
      if (!transform) continue;
      const std::string name = fmt::format("{:0{}}-{}.npz", i, digits, stem_of(files.names()[i]));
      folder_->write_now(
          name, bytes_of(transform_files::write_npz(files.stored_transform(*transform, i))));
      report.transforms[i] = (folder_->path() / name).string();
    }
    report.files.push_back({"transforms", *options_.transforms, "from the template to each image"});
  }

  const Options& options_;
  AtomicFile output_;
  std::optional<AtomicFile> sheet_;
  std::optional<OutputFolder> folder_;
};

ExitStatus report_no_template(const Options& options, const std::string& reason) {
  fmt::print(stderr, "warpalign: no template: {}\n", reason);
  if (options.json) {
    Json object;
    object["status"] = "unreliable";
    object["reason"] = reason;
    fmt::print("{}", object.text());
  }
  return ExitStatus::unreliable;
}

ExitStatus run(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  check_options(options);
  const TemplateInputs inputs = inputs_of(options);
  if (inputs.names.size() < 2) throw UsageError("a template needs at least 2 images or volumes");
  check_names(options, inputs);
  TemplateFiles files(inputs);
  Settings settings = settings_of(options, files);
  std::optional<TemplateSheet> sheet;
  detail("reading the images");
  files.check([&](const Array& plane) {
    const auto& extents = files.extents();
    if (!sheet) sheet.emplace(extents.back(), extents[extents.size() - 2]);
    if (options.sheet) sheet->add(plane);
  });
  if (files.are_volumes()) set_spacings(files, settings.volumes);
  check_output(options, files);
  Outputs outputs(options);
  const Config config = config_of(options.device.config);
  const Device device = open_for_one_job(options.device, config);
  TemplateReport report;
  report.images = inputs.names;
  report.masks = inputs.masks;
  report.transforms.resize(files.size());
  report.are_volumes = files.are_volumes();
  report.motion = settings.motion(files);
  report.modality = settings.modality(files);
  detail("registering");
  try {
    report.found = build_with_progress(device, files, settings, options.rounds);
  } catch (const NoTemplate& none) {
    return report_no_template(options, none.reason);
  }
  outputs.write(files, *sheet, report);
  report.device = device.info();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (options.json) {
    fmt::print("{}", json_text(report));
  } else {
    program::report(human_text(report));
  }
  return uses_all(report.found) ? ExitStatus::ok : ExitStatus::unreliable;
}

constexpr const char* footer =
    "IMAGES are at least two images, or at least two volumes: NIfTI files and .npy arrays of "
    "three\n"
    "dimensions (depth, height, width). A folder stands for its images, and a pattern such as\n"
    "'scan*.tif' for the files that match. Their sizes may differ; colour counts by its "
    "luminance.\n"
    "One of them is in memory at a time.\n"
    "\n"
    "Each round registers all images to the template, and makes the next one: the mean of the\n"
    "images, each warped so that the mean of all transforms is the identity. The template\n"
    "therefore does not have the shape of the image that it began with. It has its pixels, as\n"
    "32-bit floating-point numbers: in .tif or .npy; of volumes in .nii, .nii.gz or .npy. NaN\n"
    "marks pixels that no image shows.\n"
    "\n"
    "--transforms writes for each image the transform from pixels of the template to its own, as\n"
    "0-NAME.npz with its number from 0: 'warpalign transform apply 0-NAME.npz IMAGE OUT' lays the\n"
    "image, or another channel, on the template.\n"
    "\n"
    "An image whose registration is not reliable is left out of that round.\n"
    "\n"
    "Pixels that are NaN or infinite, that equal --nodata, or that --masks excludes do not count:\n"
    "neither for the brightness and contrast of their image, nor for its registration, nor for "
    "the\n"
    "mean. Masks are images, folders or patterns, too: one for each image, in the same order.\n"
    "\n"
    "Exit status: 0 all images are part of the template; 1 an image is left out, or fewer than "
    "two\n"
    "register; 2 wrong usage or input; 3 device trouble.\n"
    "\n"
    "Examples:\n"
    "  warpalign template sections/*.tif --output template.tif --sheet sheet.png\n"
    "  warpalign template head*.nii.gz --output template.nii.gz --transforms transforms\n"
    "  warpalign template a.png b.png c.png --motion rigid --rounds 2 --output mean.tif --json\n"
    "  warpalign template head*.nii.gz --initial atlas.nii.gz --output template.nii.gz\n"
    "  warpalign template sections/*.tif --masks masks/*.tif --nodata 0 --output template.tif\n";

}  // namespace

void add_template_command(CLI::App& program, Action& chosen) {
  CLI::App& command = add_command(
      program, "template", "Build the mean of several images or volumes in shape and intensity",
      "Registration");
  auto options = std::make_shared<Options>();
  add_option(command, "IMAGES", &options->images, "Images or volumes, folders or patterns",
             required);
  begin_group(command, "Results");
  add_option(command, "--output FILE", &options->output,
             "Write the template (.tif, .npy; of volumes .nii, .nii.gz, .npy)", required);
  add_option(command, "--transforms FOLDER", &options->transforms,
             "Write the transform from the template to each image (.npz)");
  add_option(command, "--sheet FILE", &options->sheet,
             "Draw the first images, their mean before, and the template (.png); of volumes the "
             "middle plane");
  add_json_option(command, options->json);
  begin_group(command, "Masks");
  add_option(command, "--nodata VALUE", &options->nodata,
             "Value of missing pixels, which are ignored, as NaN and infinities always are");
  add_option(command, "--masks FILES", &options->masks,
             "Masks, one for each image in the same order: 0 where pixels are ignored");
  begin_group(command, "Template");
  add_option(command, "--motion NAME", &options->motion,
             "Transform model: rigid, similarity, affine, or deformable [deformable]",
             suggesting("rigid similarity affine deformable"));
  add_option(command, "--rounds N", &options->rounds,
             "How often the images are registered to the template, 1 to 100", with_default);
  add_option(command, "--initial FILE", &options->initial,
             "The image that the first round registers to, whose pixels the template has [the "
             "first of IMAGES]");
  add_option(command, "--modality NAME", &options->modality,
             "same: the images have the same contrast; other: it is reversed or unrelated; or auto "
             "[same]",
             suggesting("same other auto"));
  add_option(command, "--spacing Z,Y,X", &options->spacing,
             "Of volumes: distances between voxels along their axes, in millimetres [from NIfTI, "
             "else 1]");
  add_option(command, "--max-rotation DEGREES", &options->max_rotation,
             "Of volumes: largest rotation about any axis, above 0 to 180 [180]");
  begin_group(command, "Deformation");
  add_option(command, "--grid-spacing LENGTH", &options->grid_spacing,
             "Distance between control points, in pixels, or in millimetres for volumes [5 pixels "
             "or voxels]");
  add_option(command, "--bending-weight WEIGHT", &options->bending_weight,
             fmt::format("Weight of the bending energy; larger weights make the fields smoother "
                         "[{}]",
                         RegistrationOptions{}.bending_weight));
  add_processing_options(command, options->device);
  set_footer(command, footer);
  set_action(command, chosen, [options] { return run(*options); });
}

}  // namespace warpalign::program
