// `warpalign stack`: measures the drift of the frames of a stack or a video, and removes it.
#include "commands/channel_alignment.hpp"
#include "commands/commands.hpp"
#include "commands/compile_helpers.hpp"
#include "commands/fixed_pattern.hpp"
#include "commands/known_fields.hpp"
#include "commands/line_offset_search.hpp"
#include "commands/stack_input.hpp"
#include "commands/stack_options.hpp"
#include "commands/stack_outputs.hpp"
#include "commands/stack_reference.hpp"
#include "commands/stack_registrar.hpp"
#include "commands/stack_resume.hpp"
#include "commands/stack_walk.hpp"
#include "commands/stack_work.hpp"
#include "commands/volume_recording.hpp"
#include "commands/volume_series.hpp"
#include "io/frames/input_files.hpp"
#include "io/messages.hpp"
#include "io/nodata_mask.hpp"
#include "io/registrable_image.hpp"
#include "io/usage_error.hpp"
#include "io/volume_series.hpp"
#include "options/command_line.hpp"
#include "reports/stack_report.hpp"

#include <warpalign/open_device.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

namespace warpalign::program {
namespace {

ExitStatus status_of(const StackTotals& totals) {
  if (totals.failed > 0 || !totals.ended_early.empty()) return ExitStatus::bad_input;
  return totals.unreliable > 0 ? ExitStatus::unreliable : ExitStatus::ok;
}

void refuse_with_deformable(const StackOptions& options, const RegistrationOptions& settings) {
  const auto refuse = [](const std::string& option, const char* why) {
    throw UsageError(fmt::format("{}: --motion deformable {}; omit one of the two", option, why));
  };
  if (names_several_devices(options.device)) {
    refuse("--device " + options.device.device, "runs on one device");
  }
  if (options.to == "previous") {
    refuse("--to previous", "registers frames to one frame or to the mean");
  }
  if (options.align_channels) {
    refuse("--align-channels", "leaves channels where they are: align them by another run");
  }
  if (!settings.refine) refuse("--no-refine", "needs the refinement");
}

StackMotion motion_of(const StackOptions& options) {
  StackMotion motion;
  if (!is_local(options.choices)) {
    refuse_local_options(options.local);
    motion.global = registration_options_of(options.choices);
    refuse_projective_motion(motion.global);
    if (motion.global.motion == Motion::deformable) refuse_with_deformable(options, motion.global);
    return motion;
  }
  motion.local = local_settings_of(options.choices, options.local);
  if (options.initial) refuse_with_local("--initial", "windows are compared where they lie");
  if (names_several_devices(options.device)) {
    refuse_with_local("--device " + options.device.device, "local motion runs on one device");
  }
  if (options.mask) refuse_with_local("--mask", "windows without content are left out anyway");
  if (options.to == "previous") {
    refuse_with_local("--to previous", "frames are registered to one frame or to the mean");
  }
  return motion;
}

/// The offset of the lines of a bidirectional scan, which is undone in the frames of `input`.
std::optional<UndoneLines> undone_lines(const StackOptions& options, StackInput& input) {
  if (!options.bidirectional && !options.line_offset) return {};
  UndoneLines lines;
  lines.is_found = !options.line_offset;
  if (options.line_offset) {
    lines.offset.pixels = *options.line_offset;
    lines.offset.reliable = true;
  } else {
    if (const std::optional<std::string> pipe = input.pipe()) {
      throw UsageError(fmt::format(
          "--bidirectional: needs to read the frames twice, but {} can be read only once; save it "
          "as a file, or give the offset with --line-offset",
          *pipe));
    }
    lines.offset = find_line_offset(input);
  }
  if (lines.offset.reliable) {
    input.undo_line_offset(lines.offset.pixels);
  } else {
    remark(fmt::format(
        "--bidirectional: the offset of the lines is not certain (confidence {:.2f}), so the "
        "frames stay as they are; give it with --line-offset if you know it",
        lines.offset.confidence));
  }
  return lines;
}

/// Finds the pattern that is fixed to the sensor, and leaves it out of the images by which the
/// frames are registered. `mask`: null, or 0 where pixels are ignored.
std::optional<LeftOutPattern> leave_out_pattern(const Device& device, const StackMotion& motion,
                                                const LoadedImage* mask, StackInput& input) {
  RegistrationOptions options = motion.global;
  if (motion.local) options.motion = Motion::translation;
  std::optional<SensorPattern> pattern = find_pattern(device, options, mask, input);
  if (!pattern) return {};
  const LeftOutPattern report{
      pattern->rms, pattern->frames, pattern->has_scene, pattern->is_clear, {}};
  input.leave_out(*std::move(pattern));
  return report;
}

/// Refuses a number of transforms that is not that of the frames. `option`: with its file.
void check_frame_count(const std::string& option, std::size_t known, const StackInput& input) {
  if (const std::optional<std::string> pipe = input.pipe()) {
    throw UsageError(fmt::format(
        "{}: the frames are counted first, but {} can be read only once; save it as a file", option,
        *pipe));
  }
  const std::size_t frames = input.count_frames();
  if (frames == known) return;
  throw UsageError(fmt::format("{}: holds the transforms of {} frames, and there are {}", option,
                               known, frames));
}

/// Sets the transforms of --apply, for all frames.
void take_known(const StackOptions& options, const KnownDriftChoice& choice,
                const StackInput& input, StackMotion& motion) {
  const Shape shape = input.first().image.shape();
  const std::string option = fmt::format("--apply {}", choice.file);
  if (!holds_fields(choice.file)) {
    motion.known = known_drift(choice, load_drift(choice.file), shape);
    return check_frame_count(option, motion.known.size(), input);
  }
  for (const auto& [other, is_given] :
       {std::pair{"--crop-at", options.crop_at.has_value()},
        std::pair{"--align-channels", options.align_channels.has_value()}}) {
    if (!is_given) continue;
    throw UsageError(fmt::format(
        "{}: --apply {} holds displacement fields, which do not support it", other, choice.file));
  }
  check_frame_count(option, FieldFrames(choice.file, shape).count(), input);
  motion.known_fields = choice.file;
}

/// Throws UsageError if the transforms of --initial are not as many as the frames, or cannot be
/// those of this run.
void take_initial(const StackOptions& options, StackReference to, const StackInput& input,
                  StackMotion& motion) {
  if (!options.initial) return;
  if (motion.global.fast) {
    throw UsageError("--initial: --fast does not support it; omit one of them");
  }
  motion.initial.emplace(*options.initial, motion.global, input.first().image.shape());
  motion.initial->check(to);
  const std::optional<std::size_t> known = motion.initial->frames();
  if (!known) return;
  check_frame_count(fmt::format("--initial {}", *options.initial), *known, input);
}

/// Refuses --field for motions that matrices describe. Throws UsageError.
void check_field(const StackOptions& options, const StackSetting& setting) {
  if (!options.field) return;
  if (!setting.has_spread) {
    throw UsageError(
        "--field: is for --motion local and deformable; --json has the matrices of other motions");
  }
  if (options.shard) {
    throw UsageError("--field: is written by the run with --resume that combines the shards");
  }
}

/// The transforms of --align-channels, which needs several channels.
std::vector<ChannelTransform> channel_transforms(const StackOptions& options, const Device& device,
                                                 const StackMotion& motion,
                                                 const StackInput& input) {
  if (!options.align_channels) return {};
  const ChannelAlignmentChoice choice = channel_alignment_choice(*options.align_channels);
  const RegisteredBy by = registered_by(options);
  if (choice.motion) {
    return find_channel_transforms(device, *choice.motion, motion.global, input, by);
  }
  const auto known = known_drift_choice(options);
  return load_channel_transforms(
      choice.file, input.recording().channels, reference_channel(by),
      known && known->crop ? Point{known->crop->x, known->crop->y} : Point{});
}

void check_channels(const StackOptions& options, const StackMotion& motion,
                    const StackInput& input) {
  if (!options.align_channels) return;
  (void)channel_alignment_choice(*options.align_channels);
  if (motion.local) {
    refuse_with_local("--align-channels", "align the channels by another run, with --apply");
  }
  if (input.recording().channels == 1) {
    throw UsageError(
        fmt::format("--align-channels: the frames of {} have one channel", options.files.front()));
  }
  if (const std::optional<std::string> pipe = input.pipe()) {
    throw UsageError(
        fmt::format("--align-channels: needs to read the frames twice, but {} can be "
                    "read only once",
                    *pipe));
  }
}

ExitStatus run(StackOptions options) {
  const bool with_pattern = finds_fixed_pattern(options);
  if (!options.axes && are_volumes(options.files)) {
    return run_volume_series(options, SeriesKind::volumes);
  }
  if (is_volume_recording(options)) return run_volume_series(options, SeriesKind::recording);
  refuse_volume_series_options(options.volumes);
  const auto start = std::chrono::steady_clock::now();
  StackMotion motion = motion_of(options);
  const std::optional<KnownDriftChoice> known_choice = known_drift_choice(options);
  StackSetting setting;
  ReferenceChoice reference = reference_choice(options.to);
  setting.to = reference.to;
  setting.fast = motion.global.fast;
  setting.local = motion.local.has_value();
  setting.has_spread = setting.local || motion.global.motion == Motion::deformable;
  options.files = input_files(options.files);
  check_stack_names(options);
  check_resumable(options);
  const Config config = config_of(options.device.config);
  if (options.nodata && (options.bidirectional || options.line_offset)) {
    throw UsageError("--nodata: offsets of lines would mix missing pixels with others; omit one");
  }
  motion.nodata = options.nodata;
  StackInput input(options.files, registered_by(options));
  if (options.nodata) check_nodata(*options.nodata, input.first().all_planes().front().type);
  setting.shape = input.first().image.shape();
  check_channels(options, motion, input);
  if (known_choice) {
    take_known(options, *known_choice, input, motion);
    setting.to = StackReference::known;
    setting.has_spread = motion.known_fields.has_value();
  }
  take_initial(options, reference.to, input, motion);
  check_field(options, setting);
  if (motion.local) check_windows_fit(*motion.local, setting.shape, input.first().name);
  std::optional<LoadedImage> mask;
  if (options.mask) mask = load_mask(*options.mask, setting.shape, "the first frame");
  setting.lines = undone_lines(options, input);
  load_reference(reference, input);
  if (options.nodata && reference.to == StackReference::file) {
    check_nodata(*options.nodata, reference.image->type);
    reference.image = with_nan(*reference.image, *options.nodata);
  }
  const std::unique_ptr<StackJournal> journal = open_journal(options, input);
  std::optional<std::size_t> done;
  if (journal) done = journal->frames();
  StackOutputs outputs(options, input, done);

  std::optional<CompileHelpers> helpers;
  // Batch registration rarely needs the kernels that helpers compile.
  const Motion moved = motion.global.motion;
  const bool together =
      known_choice ||
      (!mask && !options.initial &&
       (moved == Motion::translation || moved == Motion::rigid || moved == Motion::similarity));
  if (!setting.fast && !setting.local && !together && !names_several_devices(options.device) &&
      CompileHelpers::know(input.first().image.type)) {
    helpers.emplace(options.device, config, input.first().image.type);
  }
  const std::vector<Device> devices = open_each_chosen(options.device, config);
  const Device& device = devices.front();
  setting.device = device.info();
  if (with_pattern) {
    setting.pattern = leave_out_pattern(device, motion, mask ? &*mask : nullptr, input);
  }
  StackWork work(devices, motion, setting.to, input.first(), mask, outputs);
  setting.channels = channel_transforms(options, device, motion, input);
  work.align_channels(setting.channels);
  const DriftOrigin* known = journal ? journal->origin() : nullptr;
  if (known_choice) {
    setting.origin = {DriftOrigin::Reason::applied, {}, known_choice->file};
  } else if (setting.pattern && !setting.pattern->has_scene) {
    setting.origin = {DriftOrigin::Reason::none, {}, ""};
    work.refuse_all();
  } else {
    if (setting.pattern && reference.to == StackReference::frame && reference.image) {
      input.subtract_from(*reference.image);  // it was read before the pattern was known
    }
    if (setting.pattern && reference.to == StackReference::file) {
      setting.pattern->reference_gain =
          input.subtract_if_shown(*reference.image, mask ? &*mask : nullptr);
    }
    if (setting.pattern && !setting.pattern->is_clear) work.trust_none();
    setting.origin = choose_origin(std::move(reference), known, input, work, mask);
  }
  if (journal && known == nullptr) journal->write_origin(setting.origin);
  mask.reset();
  work.start_from(setting.origin);
  outputs.start(setting);
  const Shard shard = options.shard ? shard_of(*options.shard) : Shard{};
  StackTotals totals = StackWalk(input, work, outputs, journal.get(), shard).go();
  const std::optional<MeanPictures> means = work.means();
  outputs.finish(totals, means ? &*means : nullptr, work.widest());
  if (journal) journal->mark();
  if (journal && !options.shard) journal->remove();
  totals.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  outputs.say(text_end(setting, totals));
  return status_of(totals);
}

constexpr const char* footer =
    "FILES are the frames in order of time, all of one size and type, numbered from 0: images,\n"
    "TIFF stacks (BigTIFF; ImageJ's and OME's axes), .npy arrays (frame, row, column), .y4m "
    "videos\n"
    "(luminance), folders of them and patterns, in natural order. - reads a video from standard\n"
    "input. --axes says what the axes are if a file does not say it, or says it wrongly. The "
    "command\n"
    "reads, registers and writes concurrently. It holds up to 96 frames in memory, or three with\n"
    "--to previous or mean.\n"
    "\n"
    "  --to first     register each frame to the first usable frame, in most stacks frame 0\n"
    "  --to previous  to the last reliable frame before it, and compose the drifts\n"
    "  --to mean      to the mean of the first usable frame and the aligned reliable frames before "
    "it\n"
    "  --to auto      to the sharpest, most textured frame; reads the frames twice\n"
    "  --to N, FILE   to frame N, or to an image file of the frames' size\n"
    "\n"
    "Frames of several channels or planes in z are registered by the one that --channel and --z "
    "name,\n"
    "and all planes are written, in the input's type and with its axes and metadata. --apply "
    "writes "
    "them\n"
    "by transforms that are known, with one interpolation.\n"
    "\n"
    "A frame is usable if it is not constant and one of the next frames registers to it. If a\n"
    "frame before it is not, the report says which frame became the reference.\n"
    "\n"
    "The drift maps the pixels of the reference to each frame. Ranges and --max-shift limit each\n"
    "registration, not the drift. --mask (0: ignored) applies to every frame; --nodata names the\n"
    "value of pixels that are missing, which stay so.\n"
    "\n"
    "--initial looks near known transforms first, as for register: those of an earlier run, frame "
    "by\n"
    "frame, or one transform from the reference to all frames. Of poses that match equally well, "
    "the\n"
    "nearest is the answer.\n"
    "\n"
    "Aligned frames are resampled to the reference's pixel grid with cubic splines, and are 0\n"
    "outside the frame. --output-folder receives the reliable frames: 0012_name.png for 8 and 16 "
    "bits,\n"
    "0012_name.tif for other types. --output holds every frame; an unreliable one is all 0.\n"
    "--output-video repeats the previous frame instead.\n"
    "\n"
    "--motion local registers overlapping windows of each frame, fits a smooth field to their\n"
    "shifts and resamples the frame through it. The drift's x and y are the mean of the field, "
    "the\n"
    "spread is the root mean square distance from the mean, and the confidence is the fraction of\n"
    "windows that agree. It does not support --to previous and --mask.\n"
    "\n"
    "--motion deformable registers each frame by an affine transform, which is the drift, and a "
    "smooth\n"
    "deformation on a cubic B-spline grid, at full resolution; the spread is the root mean square\n"
    "distance from the affine transform. It does not support --to previous. --field keeps the\n"
    "displacements of every pixel, and --apply takes them for other frames.\n"
    "\n"
    "--device takes several devices, as in cuda:0,cuda:1 or cuda:all; they share the frames that "
    "are\n"
    "registered together. The first one resamples.\n"
    "\n"
    "--resume keeps a journal next to the first output; run the same command again to continue\n"
    "after an interruption. --shard parts may run in any order and on any machine; the same "
    "command\n"
    "with --resume instead of --shard combines them.\n"
    "\n"
    "NIfTI files (.nii, .nii.gz, .hdr), folders of them and .npy arrays of four axes (volume,\n"
    "plane, row, column) are series of volumes: --to takes first, mean, N or FILE, --motion rigid\n"
    "(the default), translation, similarity, affine or deformable. --csv writes six parameters in "
    "mm\n"
    "and degrees, framewise displacement and DVARS for each volume; --output the series in its "
    "type,\n"
    "--transforms the transform of each volume. --apply takes the JSON of another series, or "
    "another\n"
    "file of as many affine transforms.\n"
    "\n"
    "If a frame cannot be read or used, or a file ends too early, the command reports it with the\n"
    "frame's number and continues with the others.\n"
    "\n"
    "Exit status: 0 all frames registered; 1 some are not reliable; 2 some could not be used, a "
    "file\n"
    "ended too early, or wrong usage or outputs; 3 device trouble.\n"
    "\n"
    "Examples:\n"
    "  warpalign stack frame*.png --csv drift.csv --plot drift.svg\n"
    "  warpalign stack cells.ome.tif --channel 0 --to mean --output still.tif --report still.html\n"
    "  warpalign stack raw.tif --apply drift.json --output still.tif\n"
    "  ffmpeg -i in.mp4 -f yuv4mpegpipe - | warpalign stack - --output-video - | ffmpeg -i - "
    "out.mp4\n"
    "  warpalign stack cells.tif --motion local --window 96 --output still.tif --report "
    "still.html\n"
    "  warpalign stack sections.tif --motion deformable --output flat.tif --field field.npy\n"
    "  warpalign stack night/ --motion translation --output-folder aligned --resume\n"
    "  warpalign stack bold.nii.gz --output aligned.nii.gz --csv motion.tsv --plot motion.svg\n";

}  // namespace

void add_stack_command(CLI::App& program, Action& chosen) {
  CLI::App& command = add_command(
      program, "stack", "Register the frames of a stack or video to one another", "Registration");
  auto options = std::make_shared<StackOptions>();
  add_stack_options(command, *options);
  set_footer(command, footer);
  set_action(command, chosen, [options] { return run(*options); });
}

}  // namespace warpalign::program
