// `warpalign register`: finds where a reference's pixels are in a moving image.
#include "aligned_image.hpp"
#include "commands.hpp"
#include "common_options.hpp"
#include "file_names.hpp"
#include "image_io/atomic_file.hpp"
#include "luminance.hpp"
#include "overlay.hpp"
#include "report.hpp"
#include "usage_error.hpp"

#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>

#include <fmt/format.h>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

namespace warpalign::program {
namespace {

using Path = std::filesystem::path;

struct Options {
  std::string reference;
  std::string moving;
  DeviceOptions device;
  std::optional<std::string> output;
  std::optional<std::string> overlay;
  bool json = false;
  bool timings = false;
};

void check_names(const Options& options) {
  if (options.output) {
    (void)format_of_name(*options.output);
    for (const std::string& input : {options.reference, options.moving}) {
      refuse_same("--output", *options.output, input);
    }
  }
  if (options.overlay) {
    if (format_of_name(*options.overlay) != FileFormat::png) {
      throw UsageError(
          fmt::format("--overlay {}: is written as PNG; end its name in .png", *options.overlay));
    }
    for (const std::string& input : {options.reference, options.moving}) {
      refuse_same("--overlay", *options.overlay, input);
    }
    if (options.output) refuse_same("--overlay", *options.overlay, *options.output);
  }
}

LoadedImage load_registrable(const Path& path) {
  constexpr std::int64_t smallest_side = 16;
  LoadedImage image = load_image(path);
  if (image.width < smallest_side || image.height < smallest_side) {
    throw UsageError(fmt::format("{}: is {} x {} pixels; registration needs sides of at least {}",
                                 path.string(), image.width, image.height, smallest_side));
  }
  return image;
}

HostImage view_of(const LoadedImage& gray) {
  return {gray.pixels.data(), gray.type, gray.width, gray.height, 0};
}

/// Runs `work` on the pixels of `path`, and says that name where they are refused.
template <typename Work>
void naming(const Path& path, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::invalid_image && error.kind() != ErrorKind::invalid_argument) {
      throw;
    }
    const std::string& advice = error.context().advice;
    throw UsageError(fmt::format("{}: {}{}{}", path.string(), error.message(),
                                 advice.empty() ? "" : ". ", advice));
  }
}

void require_finite(const RegistrationResult& result) {
  const Affine& m = result.matrix;
  const Similarity& found = result.similarity;
  const std::array numbers{m.a,
                           m.b,
                           m.c,
                           m.d,
                           m.e,
                           m.f,
                           found.rotation_deg,
                           found.scale,
                           found.translation.x,
                           found.translation.y,
                           result.confidence};
  if (!std::all_of(numbers.begin(), numbers.end(), [](double n) { return std::isfinite(n); })) {
    throw Error(ErrorKind::device_failure,
                "the device computed numbers that are not finite; try another one with --device");
  }
}

RegistrationResult register_pair(const Device& device, const Options& options,
                                 const LoadedImage& reference, const LoadedImage& moving) {
  RegistrationOptions settings;
  settings.collect_timings = options.timings;
  Registrar registrar(device, settings);
  const LoadedImage reference_gray = luminance(reference);
  const LoadedImage moving_gray = luminance(moving);
  RegistrationResult result;
  // The first pass on a device also pays for its waking up: what is timed is the second.
  for (int pass = 0; pass < (options.timings ? 2 : 1); ++pass) {
    naming(options.reference, [&] { registrar.set_reference(view_of(reference_gray)); });
    naming(options.moving, [&] { result = registrar.align(view_of(moving_gray)); });
  }
  require_finite(result);
  return result;
}

/// The output files: opened before the work, filled after it, and given their names together.
class Outputs {
 public:
  Outputs(const Options& options, const LoadedImage& moving) {
    if (options.output) {
      check_storable(*options.output, format_of_name(*options.output), moving.channels,
                     moving.type);
      aligned_.emplace(*options.output);
    }
    if (options.overlay) overlay_.emplace(*options.overlay);
  }

  std::vector<WrittenFile> write(const Options& options, const Device& device,
                                 const LoadedImage& reference, const LoadedImage& moving,
                                 const Affine& matrix) {
    std::vector<WrittenFile> written;
    if (!aligned_ && !overlay_) return written;
    const LoadedImage aligned = align_image(device, moving, matrix, reference.shape());
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
  std::optional<AtomicFile> aligned_;
  std::optional<AtomicFile> overlay_;
};

ExitStatus run(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  check_names(options);
  const Config config = config_of(options.device.config);
  const LoadedImage reference = load_registrable(options.reference);
  const LoadedImage moving = load_registrable(options.moving);
  Outputs outputs(options, moving);

  const Device device = open_device(options.device.device, config);
  RegistrationReport report;
  report.result = register_pair(device, options, reference, moving);
  report.files = outputs.write(options, device, reference, moving, report.result.matrix);
  report.reference = options.reference;
  report.moving = options.moving;
  report.reference_description = describe(reference);
  report.moving_description = describe(moving);
  report.device = device.info();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("{}", options.json ? json_text(report) : human_text(report));
  return report.result.reliable ? ExitStatus::ok : ExitStatus::unreliable;
}

constexpr const char* footer =
    "Images: PNG, TIFF (8, 16 bit, float), JPEG, PGM/PPM. Colour is registered by its luminance\n"
    "(ITU-R BT.709); alpha, EXIF orientation and further pages are ignored.\n"
    "\n"
    "Exit status: 0 registered; 1 no reliable registration; 2 wrong usage or input; 3 device\n"
    "trouble.\n"
    "\n"
    "Examples:\n"
    "  warpalign register fixed.png moved.png --overlay fit.png\n"
    "  warpalign register fixed.tif moved.tif --output aligned.tif --device opencl:pocl\n"
    "  warpalign register fixed.jpg moved.jpg --json --timings\n";

}  // namespace

void add_register_command(CLI::App& program, Action& chosen) {
  CLI::App* command = program.add_subcommand(
      "register", "Find the rotation, scale and translation between two images");
  auto options = std::make_shared<Options>();
  command->add_option("REFERENCE", options->reference, "The image that stays as it is")->required();
  command->add_option("MOVING", options->moving, "The image that is brought onto it")->required();
  add_device_options(*command, options->device);
  command->add_flag("--json", options->json, "Print one JSON object and nothing else");
  command->add_option("--output", options->output,
                      "Write the moving image on the reference's grid (.png .tif .jpg .pgm .ppm)");
  command->add_option("--overlay", options->overlay,
                      "Write a picture (.png) that shows whether the two fit");
  command->add_flag("--timings", options->timings,
                    "Measure and show the device time of each stage");
  command->footer(footer);
  command->callback([options, &chosen] { chosen = [options] { return run(*options); }; });
}

}  // namespace warpalign::program
