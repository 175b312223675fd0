// `warpalign register`: finds the transform from a reference image to a moving image.
#include "commands/commands.hpp"
#include "commands/compile_helpers.hpp"
#include "commands/deformed.hpp"
#include "commands/frame_warper.hpp"
#include "commands/initial_transform.hpp"
#include "commands/register_local.hpp"
#include "io/atomic_file.hpp"
#include "io/image_name.hpp"
#include "io/luminance.hpp"
#include "io/messages.hpp"
#include "io/nodata_mask.hpp"
#include "io/npy.hpp"
#include "io/registrable_image.hpp"
#include "io/status_line.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"
#include "options/common_options.hpp"
#include "options/file_names.hpp"
#include "options/local_options.hpp"
#include "options/number_list.hpp"
#include "options/registration_options.hpp"
#include "reports/deformation_pictures.hpp"
#include "reports/overlay.hpp"
#include "reports/registration_report.hpp"

#include <warpalign/missing.hpp>
#include <warpalign/open_device.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

namespace warpalign::program {
namespace {

using Path = std::filesystem::path;

bool is_png_name(const Path& path) {
  return path.extension() == ".png" || path.extension() == ".PNG";
}

struct Options {
  std::string reference;
  std::string moving;
  std::optional<std::string> pages;
  DeviceOptions device;
  std::optional<std::string> output;
  std::optional<std::string> overlay;
  std::optional<std::string> reference_mask;
  std::optional<std::string> moving_mask;
  std::optional<double> nodata;
  std::optional<std::string> initial;
  RegistrationChoices choices;
  LocalChoices local;
  std::optional<std::string> field;
  std::optional<std::string> jacobian;
  std::optional<std::string> agreement;
  std::optional<std::string> page;
  bool json = false;
  bool timings = false;
};

std::vector<std::string> inputs_of(const Options& options) {
  std::vector<std::string> inputs{options.reference, options.moving};
  if (options.reference_mask) inputs.push_back(*options.reference_mask);
  if (options.moving_mask) inputs.push_back(*options.moving_mask);
  if (options.initial) inputs.push_back(*options.initial);
  for (std::string& input : inputs) input = image_name(input).file.string();
  return inputs;
}

/// Maps are arrays or pictures.
void check_map_name(const char* option, const std::optional<std::string>& name) {
  if (!name || is_npy_name(*name) || is_png_name(*name)) return;
  throw UsageError(fmt::format("{} {}: use a name that ends in .npy (numbers) or .png (a picture)",
                               option, *name));
}

void check_names(const Options& options) {
  if (options.output) (void)format_of_name(*options.output);
  if (options.overlay && format_of_name(*options.overlay) != FileFormat::png) {
    throw UsageError(fmt::format("--overlay {}: is written as PNG; use a name that ends in .png",
                                 *options.overlay));
  }
  if (options.field && !is_npy_name(*options.field)) {
    throw UsageError(fmt::format("--field {}: use a name that ends in .npy", *options.field));
  }
  check_map_name("--jacobian", options.jacobian);
  check_map_name("--agreement", options.agreement);
  check_outputs({{"--output", options.output},
                 {"--overlay", options.overlay},
                 {"--field", options.field},
                 {"--jacobian", options.jacobian},
                 {"--agreement", options.agreement}},
                inputs_of(options));
}

void refuse_without_deformable(const char* option, const std::optional<std::string>& name) {
  if (name) throw UsageError(fmt::format("{}: requires --motion deformable", option));
}

void check_deformable_options(const Options& options, bool deformable) {
  if (deformable) return;
  if (options.field) throw UsageError("--field: requires --motion local or --motion deformable");
  refuse_without_deformable("--jacobian", options.jacobian);
  refuse_without_deformable("--agreement", options.agreement);
}

void refuse_masks_with_fast(const Options& options) {
  if (!options.choices.fast) return;
  if (options.nodata) throw UsageError("--nodata: --fast does not support it; omit one of them");
  if (options.reference_mask) refuse_mask_with_fast("--reference-mask");
  if (options.moving_mask) refuse_mask_with_fast("--moving-mask");
}

/// An image of the pair with its optional mask.
struct Side {
  std::string name;
  LoadedImage image;
  std::optional<LoadedImage> mask;
  std::int64_t missing = 0;  ///< pixels that --nodata excludes
};

/// The pages of the reference and the moving image, if they are given.
struct Pages {
  std::optional<std::size_t> reference;
  std::optional<std::size_t> moving;
};

Pages pages_of(const Options& options) {
  if (!options.pages) return {};
  const std::vector<double> numbers = parse_numbers("--pages", *options.pages);
  const bool valid = std::ranges::all_of(numbers, [](double number) {
    constexpr double most = 1e9;
    return number >= 0 && number <= most && number == std::floor(number);
  });
  if (!valid || numbers.size() > 2) {
    throw UsageError(fmt::format(
        "--pages {}: give the number of a page, from 0, or two: for the reference and the moving "
        "image, as in 0,2",
        *options.pages));
  }
  return {static_cast<std::size_t>(numbers.front()), static_cast<std::size_t>(numbers.back())};
}

Side load_side(const std::string& name, std::optional<std::size_t> page,
               const std::optional<std::string>& mask, std::optional<double> nodata) {
  Side side{name, load_registrable(name, page), {}};
  if (mask) side.mask = load_mask(*mask, side.image.shape(), name);
  if (nodata) {
    check_nodata(*nodata, side.image.type);
    side.missing = mask_missing(side.image, *nodata, name, side.mask);
  }
  return side;
}

void set_reference(Registrar& registrar, const Side& side, const LoadedImage& gray) {
  naming(side.name, [&] {
    if (side.mask) return registrar.set_reference(view_of(gray), view_of(*side.mask));
    registrar.set_reference(view_of(gray));
  });
}

/// The image on the device if the search and the output read the same pixels: if it is gray and
/// complete, of integers or float32, has no mask, and is an input of --output. With --timings the
/// registrar uploads the image itself, to measure the upload.
std::optional<Image> uploaded(const Device& device, const Side& side, bool is_written,
                              bool timings) {
  const PixelType type = side.image.type;
  const bool is_resampled_as_stored = *name_of(type) != 'f' || type == PixelType::f32;
  if (!is_written || timings || side.mask || side.image.channels != 1 || !is_resampled_as_stored) {
    return {};
  }
  if (known_samples(view_of(side.image)).missing > 0) return {};
  Image image = device.make_image(side.image.type, side.image.shape());
  Stream stream = device.make_stream();
  stream.upload(view_of(side.image), image);
  stream.finish();
  return image;
}

/// The transform of --initial and the name of its file.
struct Initial {
  std::string file;
  Homography transform;
};

std::optional<Initial> load_initial_of(const Options& options,
                                       const RegistrationOptions& settings) {
  if (!options.initial) return {};
  if (settings.fast) throw UsageError("--initial: --fast does not support it; omit one of them");
  return Initial{*options.initial, load_initial_transform(*options.initial, settings.motion)};
}

RegistrationResult align(Registrar& registrar, const Side& side, const Image* on_device,
                         const LoadedImage& gray, const std::optional<Initial>& initial) {
  RegistrationResult result;
  const auto work = [&] {
    if (on_device != nullptr) {
      result = registrar.align(*on_device);
      return;
    }
    result = side.mask ? registrar.align(view_of(gray), view_of(*side.mask))
                       : registrar.align(view_of(gray));
  };
  naming(side.name, [&] {
    if (!initial) return work();
    naming_initial(initial->file, work);
  });
  return result;
}

RegistrationResult register_pair(const Device& device, RegistrationOptions settings, bool timings,
                                 const Side& reference, const Side& moving,
                                 const Image* moving_on_device,
                                 const std::optional<Initial>& initial) {
  settings.collect_timings = timings;
  Registrar registrar(device, settings);
  if (initial) {
    naming_initial(initial->file, [&] { registrar.set_initial(initial->transform); });
  }
  const Luminance reference_gray(reference.image);
  const Luminance moving_gray(moving.image);
  RegistrationResult result;
  // The first pass includes the start-up of the device, so only the second one is timed.
  for (int pass = 0; pass < (timings ? 2 : 1); ++pass) {
    set_reference(registrar, reference, reference_gray.image());
    result = align(registrar, moving, moving_on_device, moving_gray.image(), initial);
  }
  require_finite(result);
  return result;
}

/// The output files: opened before the registration, filled after it, and renamed together.
class Outputs {
 public:
  Outputs(const Options& options, const LoadedImage& moving) {
    if (options.output) {
      check_storable(*options.output, format_of_name(*options.output), moving.channels,
                     moving.type);
      aligned_.emplace(*options.output);
    }
    if (options.overlay) overlay_.emplace(*options.overlay);
    if (options.field) field_.emplace(*options.field);
    if (options.jacobian) jacobian_.emplace(*options.jacobian);
    if (options.agreement) agreement_.emplace(*options.agreement);
  }

  std::vector<WrittenFile> write(const Options& options, const Device& device,
                                 const LoadedImage& reference, const LoadedImage& moving,
                                 const Image* moving_on_device, const RegistrationResult& result) {
    if (result.deformation) {
      return write_deformed(options, device, reference, moving, *result.deformation);
    }
    const Homography& matrix = result.homography;
    std::vector<WrittenFile> written;
    if (!aligned_ && !overlay_) return written;
    FrameWarper warper(device, moving.shape(), reference.shape(), options.nodata);
    const LoadedImage aligned = moving_on_device != nullptr ? warper.warp(*moving_on_device, matrix)
                                                            : warper.warp(moving, matrix);
    if (aligned_) {
      aligned_->write(encode_image(aligned, format_of_name(*options.output)));
      written.push_back({"aligned", *options.output, describe(aligned)});
    }
    if (overlay_) {
      const LoadedImage picture = draw_overlay(reference, aligned, matrix, moving.shape());
      overlay_->write(encode_image(picture, FileFormat::png));
      written.push_back({"overlay", *options.overlay, describe(picture)});
    }
    if (aligned_) aligned_->commit();
    if (overlay_) overlay_->commit();
    return written;
  }

 private:
  std::vector<WrittenFile> write_deformed(const Options& options, const Device& device,
                                          const LoadedImage& reference, const LoadedImage& moving,
                                          const Deformation& deformation) {
    const Transform& transform = deformation.transform;
    const std::vector<std::int64_t> extents{reference.height, reference.width};
    std::optional<Positions> positions;
    std::vector<WrittenFile> written;
    LoadedImage aligned;
    if (aligned_ || overlay_ || agreement_) {
      positions.emplace(extents, transform);
      aligned = PositionSampler(device, extents).sample(moving, *positions, options.nodata);
    }
    Array correlations;
    if (overlay_ || agreement_) {
      correlations =
          agreement(gray_array(reference, options.nodata), gray_array(aligned, options.nodata),
                    positions->inside({moving.height, moving.width}));
    }
    if (aligned_) {
      aligned_->write(encode_image(aligned, format_of_name(*options.output)));
      written.push_back({"aligned", *options.output, describe(aligned)});
    }
    if (overlay_) {
      const LoadedImage picture =
          draw_deformed_overlay(reference, aligned, deformation, moving.shape(), correlations);
      overlay_->write(encode_image(picture, FileFormat::png));
      written.push_back({"overlay", *options.overlay, describe(picture)});
    }
    if (field_) {
      const Array field = displacements(extents, transform);
      field_->write(write_npy(field));
      written.push_back({"field", *options.field, describe(field)});
    }
    if (jacobian_) {
      written.push_back(write_map("jacobian", *options.jacobian, jacobians(extents, deformation),
                                  draw_jacobians, *jacobian_));
    }
    if (agreement_) {
      written.push_back(
          write_map("agreement", *options.agreement, correlations, draw_agreement, *agreement_));
    }
    for (auto* file : {&aligned_, &overlay_, &field_, &jacobian_, &agreement_}) {
      if (*file) (*file)->commit();
    }
    return written;
  }

  /// Writes an array of the pixels as numbers or as a picture.
  static WrittenFile write_map(const char* what, const std::string& name, const Array& values,
                               LoadedImage (*draw)(const Array&), AtomicFile& file) {
    if (is_npy_name(name)) {
      file.write(write_npy(values));
      return {what, name, describe(values)};
    }
    const LoadedImage picture = draw(values);
    file.write(encode_image(picture, FileFormat::png));
    return {what, name, describe(picture)};
  }

  /// The luminance; with `nodata`, f32 with NaN in missing pixels.
  static Array gray_array(const LoadedImage& image, std::optional<double> nodata) {
    if (nodata) {
      LoadedImage known = with_nan(image, *nodata);
      return {{known.height, known.width}, known.type, std::move(known.pixels)};
    }
    const Luminance luminance(image);
    const LoadedImage& gray = luminance.image();
    return {{gray.height, gray.width}, gray.type, gray.pixels};
  }

  std::optional<AtomicFile> aligned_;
  std::optional<AtomicFile> overlay_;
  std::optional<AtomicFile> field_;
  std::optional<AtomicFile> jacobian_;
  std::optional<AtomicFile> agreement_;
};

ExitStatus run_local(const Options& options) {
  if (options.reference_mask || options.moving_mask) {
    refuse_with_local(options.reference_mask ? "--reference-mask" : "--moving-mask",
                      "windows without content are left out anyway");
  }
  if (options.timings) refuse_with_local("--timings", "stages are not timed");
  if (options.initial) refuse_with_local("--initial", "windows are compared where they lie");
  const Pages pages = pages_of(options);
  return register_local({options.reference, options.moving, pages.reference, pages.moving,
                         options.device, local_settings_of(options.choices, options.local),
                         options.output, options.overlay, options.field, options.page,
                         options.nodata, options.json});
}

ExitStatus run(const Options& options) {
  if (is_local(options.choices)) return run_local(options);
  refuse_local_options(options.local);
  if (options.page) refuse_without_local("--report");
  const auto start = std::chrono::steady_clock::now();
  check_names(options);
  const RegistrationOptions settings = registration_options_of(options.choices);
  refuse_masks_with_fast(options);
  check_deformable_options(options, settings.motion == Motion::deformable);
  const Pages pages = pages_of(options);
  const std::optional<Initial> initial = load_initial_of(options, settings);
  const Config config = config_of(options.device.config);
  Activity activity("reading the images");
  const Side reference =
      load_side(options.reference, pages.reference, options.reference_mask, options.nodata);
  const Side moving = load_side(options.moving, pages.moving, options.moving_mask, options.nodata);
  Outputs outputs(options, moving.image);

  activity.next("opening the device");
  std::optional<CompileHelpers> helpers;
  if (!settings.fast) helpers.emplace(options.device, config, reference.image.type);
  const Device device = open_for_one_job(options.device, config);
  RegistrationReport report;
  report.settings = settings;
  activity.next("registering");
  const bool is_written = options.output || options.overlay;
  const std::optional<Image> moving_image = uploaded(device, moving, is_written, options.timings);
  const Image* moving_on_device = moving_image ? &*moving_image : nullptr;
  report.result = register_pair(device, settings, options.timings, reference, moving,
                                moving_on_device, initial);
  report.result.missing.reference += reference.missing;
  report.result.missing.moving += moving.missing;
  activity.next("writing the results");
  report.files = outputs.write(options, device, reference.image, moving.image, moving_on_device,
                               report.result);
  report.reference = options.reference;
  report.moving = options.moving;
  report.reference_description = describe(reference.image);
  report.moving_description = describe(moving.image);
  report.reference_orientation = reference.image.orientation;
  report.moving_orientation = moving.image.orientation;
  report.device = device.info();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (options.json) {
    fmt::print("{}", json_text(report));
  } else {
    program::report(human_text(report));
  }
  return report.result.reliable ? ExitStatus::ok : ExitStatus::unreliable;
}

constexpr const char* footer =
    "Images: PNG, TIFF, JPEG, WebP, BMP, PNM and .npy, of any type. Colour is registered by its\n"
    "luminance (ITU-R BT.709), other channels by their mean; alpha is ignored. EXIF and TIFF tags\n"
    "of the orientation are applied. Of a TIFF file, the first page that is no thumbnail is read;\n"
    "--pages 2 or the name scan.tif[2] reads page 2, counted from 0.\n"
    "\n"
    "A mask has the size of its image. The search ignores pixels where the mask is 0 (black). It\n"
    "also ignores pixels that are NaN, infinite or equal to --nodata; they are missing in "
    "--output.\n"
    "\n"
    "Angles, scales and shifts describe the moving image relative to the reference, as in the\n"
    "report: its content is rotated counter-clockwise by the angle and enlarged by the scale. For\n"
    "images that are upside down, give --angle-range 170,190. --fast implies --no-refine, and\n"
    "accepts neither masks nor options that limit the search.\n"
    "\n"
    "--initial names the JSON of a registration (its matrix), or a CSV file with a line x,y,x',y'\n"
    "for each pair of points, in the reference and in the moving image; or it is `identity`. If a\n"
    "fit that starts there is reliable, that is the answer. Of poses that match equally well, the\n"
    "nearest is the answer.\n"
    "\n"
    "--motion deformable adds a smooth deformation on a cubic B-spline grid to an affine "
    "transform.\n"
    "With --initial, the affine transform is that one. It accepts --modality same only.\n"
    "\n"
    "--motion local registers overlapping windows of two images of the same size, discards "
    "windows\n"
    "that disagree with their neighbours, and fits a smooth field u to the rest: x + u(x) in the\n"
    "moving image corresponds to x in the reference. It leaves out windows of which half is "
    "missing\n"
    "(--nodata), accepts no masks, and --max-shift is the only search option that it accepts.\n"
    "\n"
    "Exit status: 0 registered; 1 no reliable registration; 2 wrong usage or input; 3 device\n"
    "trouble.\n"
    "\n"
    "Examples:\n"
    "  warpalign register fixed.png moved.png --overlay fit.png\n"
    "  warpalign register fixed.tif moved.tif --output aligned.tif --device opencl:pocl\n"
    "  warpalign register fixed.jpg moved.jpg --json --timings\n"
    "  warpalign register scan1.tif scan2.tif --motion rigid --angle-range -5,5 --max-shift 100\n"
    "  warpalign register front.jpg oblique.jpg --motion homography --output rectified.png\n"
    "  warpalign register fixed.tif bent.tif --motion local --field field.npy --output flat.tif\n"
    "  warpalign register slice1.tif slice2.tif --motion deformable --output on-1.tif\n"
    "  warpalign register wells1.tif wells2.tif --initial rough.csv --motion translation\n"
    "  warpalign register fixed.png moved.png --reference-mask fixed-mask.png --candidates 5\n";

}  // namespace

void add_register_command(CLI::App& program, Action& chosen) {
  CLI::App& command =
      add_command(program, "register",
                  "Find the rotation, scale and translation, or the homography, between two images",
                  "Registration");
  auto options = std::make_shared<Options>();
  add_option(command, "REFERENCE", &options->reference, "The image that stays fixed", required);
  add_option(command, "MOVING", &options->moving, "The image to align with it", required);
  add_option(command, "--pages N|N,N", &options->pages,
             "Page of both images, from 0, or of the reference and of the moving image");
  begin_group(command, "Results");
  add_json_option(command, options->json);
  add_option(command, "--output FILE", &options->output,
             "Write the moving image, resampled to the reference (.png .tif .jpg .pgm .ppm)");
  add_option(command, "--overlay FILE", &options->overlay,
             "Write an image (.png) that shows how well the two fit");
  begin_group(command, "Masks");
  add_option(command, "--nodata VALUE", &options->nodata,
             "Value of missing pixels, which are ignored, as NaN and infinities always are");
  add_option(command, "--reference-mask FILE", &options->reference_mask,
             "Mask of the reference: an image that is 0 where pixels are ignored");
  add_option(command, "--moving-mask FILE", &options->moving_mask,
             "Mask of the moving image: 0 where pixels are ignored");
  add_registration_options(command, options->choices, MotionsOffered::all);
  add_candidates_option(command, options->choices);
  add_option(command, "--initial FILE", &options->initial,
             "Look near this transform first: a registration's JSON, point pairs (CSV), or "
             "identity");
  add_local_options(command, options->local);
  add_option(command, "--field FILE", &options->field,
             "Write the displacement at every pixel (.npy, of shape (2, height, width))");
  add_option(command, "--report FILE", &options->page,
             "Write a page with the overlay and the field as arrows (.html)");
  add_deformation_options(command, options->choices);
  add_option(command, "--jacobian FILE", &options->jacobian,
             "Write by which factor the deformation changes areas, as numbers (.npy) or in colour "
             "(.png)");
  add_option(command, "--agreement FILE", &options->agreement,
             "Write how well the two agree at each pixel, as numbers (.npy) or in gray (.png)");
  add_timings_option(command, options->timings);
  add_processing_options(command, options->device);
  set_footer(command, footer);
  set_action(command, chosen, [options] { return run(*options); });
}

}  // namespace warpalign::program
