// `warpalign register-volume`: finds the translation between two volumes.
#include "commands/commands.hpp"
#include "io/array_file.hpp"
#include "io/atomic_file.hpp"
#include "io/messages.hpp"
#include "io/registrable_image.hpp"
#include "io/status_line.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"
#include "options/common_options.hpp"
#include "options/file_names.hpp"
#include "options/interpolation.hpp"
#include "options/number_list.hpp"
#include "reports/volume_report.hpp"

#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>
#include <warpalign/volume_registrar.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

namespace warpalign::program {
namespace {

struct Options {
  std::string reference;
  std::string moving;
  DeviceOptions device;
  std::optional<std::string> output;
  std::optional<std::string> max_shift;
  bool no_refine = false;
  bool json = false;
  bool timings = false;
};

void check_names(const Options& options) {
  if (!options.output) return;
  if (!is_npy_name(*options.output)) {
    throw UsageError(fmt::format("--output {}: volumes are written as .npy; end the name in .npy",
                                 *options.output));
  }
  refuse_same("--output", *options.output, options.reference);
  refuse_same("--output", *options.output, options.moving);
}

Point3 max_shift_of(const std::optional<std::string>& text) {
  if (!text) return {};
  std::vector<double> limits = parse_numbers("--max-shift", *text);
  if (limits.size() == 1) limits.resize(3, limits.front());
  const auto positive = [](double limit) { return limit > 0; };
  if (limits.size() != 3 || !std::all_of(limits.begin(), limits.end(), positive)) {
    throw UsageError(fmt::format(
        "--max-shift {}: must be a number above 0, or three for x, y and z; leave it out for any "
        "shift",
        *text));
  }
  return {limits[0], limits[1], limits[2]};
}

VolumeRegistrationOptions settings_of(const Options& options) {
  VolumeRegistrationOptions settings;
  settings.max_shift = max_shift_of(options.max_shift);
  settings.refine = !options.no_refine;
  settings.collect_timings = options.timings;
  return settings;
}

Array load_volume(const std::string& name) {
  if (!is_npy(name)) {
    throw UsageError(fmt::format("{}: is not a .npy array; volumes are read from .npy", name));
  }
  Array volume = load_npy(name);
  if (volume.dimensions() != 3) {
    throw UsageError(fmt::format("{}: has {} dimension{}; a volume has 3 (depth, height, width)",
                                 name, volume.dimensions(), volume.dimensions() == 1 ? "" : "s"));
  }
  return volume;
}

HostVolume view_of(const Array& volume) {
  return {volume.bytes.data(), volume.type, volume.shape()};
}

void require_finite(const VolumeRegistration& result) {
  const Point3& t = result.translation;
  for (const double n :
       {t.x, t.y, t.z, result.confidence, result.correlation, result.significance}) {
    if (std::isfinite(n)) continue;
    throw Error(ErrorKind::device_failure,
                "the device computed numbers that are not finite; try another one with --device");
  }
}

VolumeRegistration register_pair(const Device& device, const Options& options,
                                 const Array& reference, const Array& moving) {
  VolumeRegistrar registrar(device, settings_of(options));
  VolumeRegistration result;
  // The first pass also pays for waking the device up, so the second one is timed.
  for (int pass = 0; pass < (options.timings ? 2 : 1); ++pass) {
    naming(options.reference, [&] { registrar.set_reference(view_of(reference)); });
    naming(options.moving, [&] { result = registrar.align(view_of(moving)); });
  }
  require_finite(result);
  return result;
}

/// The moving volume resampled by its cubic spline onto the reference's grid, 0 outside of it.
Array aligned_volume(const Device& device, const Array& moving, const Array& reference,
                     const Point3& t) {
  Interpolation interpolation;
  interpolation.boundary = Boundary::constant;
  ResamplePlan resample(device, resample_spec(interpolation, {moving.shape(), reference.shape(), 3,
                                                              moving.type, moving.type}));
  Stream stream = device.make_stream();
  Image input = device.make_image(moving.type, moving.shape());
  Image output = device.make_image(moving.type, reference.shape());
  stream.upload(moving.bytes.data(), moving.bytes.size(), input.buffer());
  resample.execute(stream, input, Transform::affine3({1, 0, 0, t.x, 0, 1, 0, t.y, 0, 0, 1, t.z}),
                   output);
  Array aligned = make_array(reference.extents, moving.type);
  stream.download(output, aligned.bytes.data(), aligned.bytes.size());
  return aligned;
}

ExitStatus run(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  check_names(options);
  (void)settings_of(options);
  const Config config = config_of(options.device.config);
  Activity activity("reading the volumes");
  const Array reference = load_volume(options.reference);
  const Array moving = load_volume(options.moving);
  std::optional<AtomicFile> file;
  if (options.output) {
    check_storable(*options.output, 1, reference.extents, moving.type);
    file.emplace(*options.output);
  }

  activity.next("opening the device");
  const Device device = open_chosen(options.device, config);
  activity.next("registering");
  VolumeReport report;
  report.result = register_pair(device, options, reference, moving);
  if (file) {
    activity.next("resampling and writing");
    const Array aligned = aligned_volume(device, moving, reference, report.result.translation);
    file->write(write_npy(aligned));
    file->commit();
    report.files.push_back({"aligned", *options.output, describe(aligned)});
  }
  report.reference = fmt::format("{} ({})", options.reference, describe(reference));
  report.moving = fmt::format("{} ({})", options.moving, describe(moving));
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
    "REFERENCE and MOVING: .npy arrays of three dimensions (depth, height, width), each 8 to "
    "16384\n"
    "voxels; integers of 8 to 32 bits, float16 to float64. They may differ in size and type.\n"
    "\n"
    "The content of reference voxel (x, y, z) lies at (x, y, z) plus the translation in the "
    "moving\n"
    "volume. Shifts of more than half a side are found, as long as the volumes overlap in 4 % of "
    "the\n"
    "smaller one.\n"
    "\n"
    "Exit status: 0 registered; 1 no reliable registration; 2 wrong usage or input; 3 device\n"
    "trouble.\n"
    "\n"
    "Examples:\n"
    "  warpalign register-volume fixed.npy moved.npy\n"
    "  warpalign register-volume fixed.npy moved.npy --output aligned.npy --json\n"
    "  warpalign register-volume fixed.npy moved.npy --max-shift 20,20,5 --device cuda:0\n";

}  // namespace

void add_register_volume_command(CLI::App& program, Action& chosen) {
  CLI::App& command = add_command(program, "register-volume",
                                  "Find the translation between two volumes", "Registration");
  auto options = std::make_shared<Options>();
  add_option(command, "REFERENCE", &options->reference, "The volume that stays fixed", required);
  add_option(command, "MOVING", &options->moving, "The volume to be aligned with it", required);
  begin_group(command, "Results");
  add_option(command, "--json", &options->json, "Print one JSON object and nothing else");
  add_option(command, "--output FILE", &options->output,
             "Write the moving volume on the reference's grid (.npy)");
  begin_group(command, "Search");
  add_option(command, "--max-shift N", &options->max_shift,
             "N or X,Y,Z: largest translation along each axis, in voxels [any]");
  add_option(command, "--no-refine", &options->no_refine, "Stop at whole voxels");
  begin_group(command, "Results");
  add_option(command, "--timings", &options->timings,
             "Measure and show the device time of each stage");
  add_device_options(command, options->device);
  add_limit_options(command);
  add_message_options(command);
  set_footer(command, footer);
  set_action(command, chosen, [options] { return run(*options); });
}

}  // namespace warpalign::program
