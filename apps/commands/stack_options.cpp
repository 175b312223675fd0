// The options of `warpalign stack`, checked before any file is opened.
#include "commands/stack_options.hpp"

#include "io/frames/axis_letters.hpp"
#include "io/frames/folder_sink.hpp"
#include "io/image_file.hpp"
#include "io/npy.hpp"
#include "io/tiff_name.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"
#include "options/file_names.hpp"
#include "options/number_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

namespace warpalign::program {
namespace {

using Path = std::filesystem::path;

std::vector<NamedOutput> single_outputs(const StackOptions& options) {
  return {{"--output", options.output}, {"--output-video", options.video, true},
          {"--field", options.field},   {"--csv", options.csv},
          {"--json", options.json},     {"--plot", options.plot},
          {"--report", options.page}};
}

/// Refuses names of aligned frames that would overwrite an input or another output.
void check_folder(const StackOptions& options) {
  std::error_code failed;
  const Path folder = std::filesystem::weakly_canonical(*options.folder, failed);
  std::set<std::string> stems;
  for (const std::string& file : options.files) stems.insert(Path(file).stem().string());
  const auto check = [&](const std::string& file, const char* what) {
    const Path full = std::filesystem::weakly_canonical(file, failed);
    if (full.parent_path() != folder || !FolderSink::may_name(full.filename(), stems)) return;
    throw UsageError(fmt::format("--output-folder {}: {} in it is {}; choose another folder",
                                 *options.folder, full.filename().string(), what));
  };
  for (const std::string& file : options.files) check(file, "one of the frames");
  if (options.mask) check(*options.mask, "the mask");
  if (options.initial) check(*options.initial, "the file of --initial");
  for (const NamedOutput& output : single_outputs(options)) {
    if (output.name) check(*output.name, "another output");
  }
}

void check_clashes(const StackOptions& options) {
  std::vector<std::string> inputs = options.files;
  if (options.mask) inputs.push_back(*options.mask);
  if (options.apply) inputs.push_back(*options.apply);
  if (options.initial) inputs.push_back(*options.initial);
  check_outputs(single_outputs(options), inputs);
}

void check_extension(const char* option, const std::optional<std::string>& name,
                     const std::string& extension, const char* kind) {
  if (!name || Path(*name).extension() == extension) return;
  throw UsageError(fmt::format("{} {}: is written as {}; use a name that ends in {}", option, *name,
                               kind, extension));
}

void check_output(const std::string& name) {
  if (is_npy_name(name) || is_tiff_name(name)) return;
  throw UsageError(
      fmt::format("--output {}: a stack must be .tif or .npy; use --output-folder to write each "
                  "frame as an image",
                  name));
}

}  // namespace

void add_stack_options(CLI::App& command, StackOptions& options) {
  add_option(command, "FILES", &options.files,
             "Images, stacks, folders, quoted patterns, or - for standard input", required);
  add_option(command, "--to NAME|FRAME|FILE", &options.to,
             "Reference: first, previous, mean, auto, a frame's number, or an image file",
             suggesting("first previous mean auto", with_default));
  add_option(command, "--nodata VALUE", &options.nodata,
             "Value of missing pixels, which are ignored, as NaN and infinities always are");
  add_option(command, "--mask FILE", &options.mask,
             "Mask of the frames: an image that is 0 where pixels are ignored");
  add_option(command, "--initial FILE", &options.initial,
             "Look near these transforms first: a run's JSON or CSV, or one transform for all "
             "frames (as for register), such as identity");
  add_option(command, "--fixed-pattern NAME", &options.fixed_pattern,
             "Pattern that is fixed to the sensor: auto to find it and leave it out, or off "
             "(default: auto, off with --fast)",
             suggesting("auto off"));
  add_option(command, "--resume", &options.resume,
             "Keep a journal next to the outputs, and continue an interrupted run");
  add_option(command, "--shard I/N", &options.shard,
             "Process part I of N of the frames; --resume without it combines the parts");
  add_registration_options(command, options.choices, MotionsOffered::for_stacks);
  add_local_options(command, options.local);
  add_deformation_options(command, options.choices);
  begin_group(command, "Recordings");
  add_option(command, "--channel N", &options.channel,
             "Channel by which frames are registered, from 0; all are written");
  add_option(command, "--channel-weights W,W...", &options.weights,
             "Register by the sum of the channels with these weights, one for each");
  add_option(
      command, "--z N|NAME", &options.slice,
      "Plane in z by which frames are registered, from 0, or max or mean of all, or all: whole "
      "volumes",
      suggesting("max mean all"));
  add_option(command, "--only-channel", &options.only_channel,
             "Read and write no channel but that of --channel");
  add_option(command, "--only-z", &options.only_slice,
             "Read and write no plane in z but that of --z");
  add_option(command, "--axes LETTERS", &options.axes,
             "Axes of TIFF stacks and .npy arrays, the slowest first: T C Z Y X S, as in TCYX");
  add_option(command, "--apply FILE", &options.apply,
             "Register nothing: apply the transforms of a run's JSON, CSV or --field to these "
             "frames");
  add_option(
      command, "--crop-at X,Y", &options.crop_at,
      "With --apply: where these frames begin in those that were registered (volumes: X,Y,Z)");
  add_option(command, "--align-channels NAME|FILE", &options.align_channels,
             "Align the channels to each other by this motion, or by transforms of a file",
             suggesting("translation rigid similarity affine"));
  add_option(command, "--bidirectional", &options.bidirectional,
             "Find the offset of every second line of a bidirectional scan, and undo it");
  add_option(command, "--line-offset PIXELS", &options.line_offset,
             "Undo this offset: lines 1, 3, 5, ... lie so far to the right");
  add_volume_series_options(command, options.volumes);
  begin_group(command, "Outputs");
  add_option(command, "--output-folder FOLDER", &options.folder,
             "Write each aligned frame as an image to this folder");
  add_option(command, "--output FILE", &options.output,
             "Write the aligned frames as one stack (.tif or .npy)");
  add_option(command, "--output-video FILE", &options.video,
             "Write the aligned frames as a gray video (.y4m, or - for standard output)");
  add_option(command, "--field FILE", &options.field,
             "Write the displacements of local or deformable motion, (frames, 2, height, width) "
             "(.npy)");
  add_option(command, "--csv FILE", &options.csv,
             "Write the drift as CSV, one line for each frame");
  add_option(command, "--json FILE", &options.json, "Write the drift as one JSON object");
  add_option(command, "--plot FILE", &options.plot, "Draw the drift (.svg)");
  add_option(command, "--report FILE", &options.page,
             "Write a page with the drift, and the mean before and after (.html)");
  add_processing_options(command, options.device);
}

RegisteredBy registered_by(const StackOptions& options) {
  RegisteredBy by;
  by.channel = options.channel;
  by.only_channel = options.only_channel;
  by.only_slice = options.only_slice;
  by.axes = options.axes;
  by.nodata = options.nodata;
  by.is_optional = options.apply.has_value();
  if (options.weights) {
    if (options.channel) {
      throw UsageError("--channel-weights: says by which channels to register; omit --channel");
    }
    by.weights = parse_numbers("--channel-weights", *options.weights);
    if (std::ranges::all_of(by.weights, [](double weight) { return weight == 0; })) {
      throw UsageError("--channel-weights: all weights are 0; register by at least one channel");
    }
  }
  if (options.slice == "max") {
    by.slices = RegisteredBy::Slices::maximum;
  } else if (options.slice == "mean") {
    by.slices = RegisteredBy::Slices::mean;
  } else if (options.slice && *options.slice != "all") {  // whole volumes need no plane
    int number = 0;
    const char* end = options.slice->data() + options.slice->size();
    const auto [stop, failed] = std::from_chars(options.slice->data(), end, number);
    if (failed != std::errc{} || stop != end) {
      throw UsageError(fmt::format(
          "invalid value '{}' for --z (choose from: the number of a plane, max, mean, all)",
          *options.slice));
    }
    by.slice = number;
  }
  if (by.only_channel && !by.channel) {
    throw UsageError("--only-channel: needs --channel, which says which one");
  }
  if (by.only_slice && !by.slice) {
    throw UsageError("--only-z: needs --z with the number of the plane");
  }
  return by;
}

bool finds_fixed_pattern(const StackOptions& options) {
  const bool has_fast = options.choices.fast;
  if (!options.fixed_pattern) return !has_fast && !options.apply;
  if (*options.fixed_pattern == "off") return false;
  if (*options.fixed_pattern != "auto") {
    throw UsageError(fmt::format("invalid value '{}' for --fixed-pattern (choose from: auto, off)",
                                 *options.fixed_pattern));
  }
  if (has_fast) throw UsageError("--fixed-pattern auto: --fast does not support it; omit one");
  if (options.apply) {
    throw UsageError("--fixed-pattern auto: --apply registers nothing; omit one");
  }
  return true;
}

std::optional<KnownDriftChoice> known_drift_choice(const StackOptions& options, std::size_t axes) {
  if (!options.apply) {
    if (options.crop_at) throw UsageError("--crop-at: is for --apply, which names the transforms");
    return {};
  }
  const RegistrationChoices& choices = options.choices;
  const bool registers = options.to != "first" || options.mask || options.initial || choices.fast ||
                         choices.no_refine || choices.motion || choices.scale_range ||
                         choices.angle_range || choices.max_shift || choices.candidates ||
                         !given_by_name(choices).empty();
  if (registers) {
    throw UsageError(fmt::format(
        "--apply {}: registers nothing; omit --to, --mask, --initial and the options of the "
        "registration",
        *options.apply));
  }
  KnownDriftChoice choice{*options.apply, {}};
  if (options.crop_at) {
    const std::vector<double> numbers = parse_numbers("--crop-at", *options.crop_at);
    if (numbers.size() != axes) {
      throw UsageError(fmt::format(
          "--crop-at {}: must be {}", *options.crop_at,
          axes == 2 ? "two numbers, as in 64,32" : "three numbers for volumes, as in 64,32,8"));
    }
    choice.crop = Point3{numbers[0], numbers[1], axes == 2 ? 0 : numbers[2]};
  }
  return choice;
}

void check_stack_names(const StackOptions& options) {
  check_extension("--plot", options.plot, ".svg", "SVG");
  check_extension("--report", options.page, ".html", "HTML");
  if (options.video && *options.video != "-") {
    check_extension("--output-video", options.video, ".y4m", "a YUV4MPEG2 video");
  }
  if (options.output) check_output(*options.output);
  check_extension("--field", options.field, ".npy", "NumPy's .npy");
  if (options.axes) check_axis_letters(*options.axes);
  check_clashes(options);
  if (options.folder) check_folder(options);
  if (options.mask && options.choices.fast) refuse_mask_with_fast("--mask");
  if (options.nodata && options.choices.fast) refuse_mask_with_fast("--nodata");
}

}  // namespace warpalign::program
