// `warpalign stack`: finds how a stack's or a video's frames drift, and takes the drift out.
#include "commands/commands.hpp"
#include "commands/compile_helpers.hpp"
#include "commands/stack_registrar.hpp"
#include "io/atomic_file.hpp"
#include "io/messages.hpp"
#include "io/one_line.hpp"
#include "io/output_folder.hpp"
#include "io/progress.hpp"
#include "io/registrable_image.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"
#include "options/common_options.hpp"
#include "options/file_names.hpp"
#include "options/registration_options.hpp"
#include "reports/stack_report.hpp"

#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <span>

namespace warpalign::program {
namespace {

using Path = std::filesystem::path;

struct Options {
  std::vector<std::string> files;
  std::string to = "first";
  std::optional<std::string> folder;
  std::optional<std::string> csv;
  std::optional<std::string> json;
  std::optional<std::string> plot;
  std::optional<std::string> mask;
  RegistrationChoices choices;
  DeviceOptions device;
};

/// An output that is a single file, with the option that names it.
struct NamedOutput {
  const char* option;
  const std::optional<std::string>& name;
};

std::vector<NamedOutput> single_outputs(const Options& options) {
  return {{"--csv", options.csv}, {"--json", options.json}, {"--plot", options.plot}};
}

/// "0012_name": unique, and in the order of the frames.
std::string aligned_stem(const Options& options, std::size_t index) {
  const std::size_t digits = std::max<std::size_t>(4, std::to_string(options.files.size()).size());
  return fmt::format("{:0{}}_{}", index, digits, Path(options.files[index]).stem().string());
}

/// A format that stores the pixels without loss.
FileFormat aligned_format(PixelType type) {
  return type == PixelType::f32 ? FileFormat::tiff : FileFormat::png;
}
const char* extension_of(FileFormat format) { return format == FileFormat::tiff ? "tif" : "png"; }

/// An aligned frame must not overwrite a frame that has yet to be read.
void check_folder(const Options& options) {
  std::error_code failed;
  std::set<Path> inputs;
  for (const std::string& file : options.files) {
    inputs.insert(std::filesystem::weakly_canonical(file, failed));
  }
  const Path folder = std::filesystem::weakly_canonical(*options.folder, failed);
  for (std::size_t i = 0; i < options.files.size(); ++i) {
    for (const char* extension : {"png", "tif"}) {
      const std::string name = fmt::format("{}.{}", aligned_stem(options, i), extension);
      if (!inputs.contains(folder / name)) continue;
      throw UsageError(
          fmt::format("--output-folder {}: {} in it is one of the frames; choose another folder",
                      *options.folder, name));
    }
  }
}

void check_names(const Options& options) {
  if (options.files.size() < 2) {
    throw UsageError(fmt::format("{}: is one frame; a stack has two or more", options.files[0]));
  }
  if (options.plot && Path(*options.plot).extension() != ".svg") {
    throw UsageError(
        fmt::format("--plot {}: is written as SVG; end its name in .svg", *options.plot));
  }
  const auto outputs = single_outputs(options);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].name) continue;
    for (const std::string& file : options.files) {
      refuse_same(outputs[i].option, *outputs[i].name, file);
    }
    if (options.mask) refuse_same(outputs[i].option, *outputs[i].name, *options.mask);
    for (std::size_t j = 0; j < i; ++j) {
      if (outputs[j].name) refuse_same(outputs[i].option, *outputs[i].name, *outputs[j].name);
    }
  }
  if (options.folder) check_folder(options);
  if (options.mask && options.choices.fast) refuse_mask_with_fast("--mask");
}

/// The output files. That they can be written is checked before the work. Aligned frames are
/// written one by one, the others together at the end.
class Outputs {
 public:
  explicit Outputs(const Options& options) : options_(options) {
    if (options.folder) folder_.emplace(*options.folder);
    if (options.csv) csv_.emplace(*options.csv);
    if (options.json) json_.emplace(*options.json);
    if (options.plot) plot_.emplace(*options.plot);
  }

  [[nodiscard]] bool wants_frames() const { return folder_.has_value(); }

  /// The name under which the frame was written.
  std::string write_frame(const LoadedImage& aligned, std::size_t index) {
    const FileFormat format = aligned_format(aligned.type);
    std::string name = fmt::format("{}.{}", aligned_stem(options_, index), extension_of(format));
    folder_->write_now(name, encode_image(aligned, format));
    return name;
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    if (options_.folder) names.push_back(*options_.folder);
    for (const NamedOutput& output : single_outputs(options_)) {
      if (output.name) names.push_back(*output.name);
    }
    return names;
  }

  void write(const StackReport& report) {
    if (csv_) fill(*csv_, drift_csv(report));
    if (json_) fill(*json_, drift_json(report));
    if (plot_) fill(*plot_, drift_plot(report));
    for (std::optional<AtomicFile>* file : {&csv_, &json_, &plot_}) {
      if (*file) (*file)->commit();
    }
  }

 private:
  static void fill(AtomicFile& file, const std::string& text) {
    file.write(std::as_bytes(std::span(text)));
  }

  const Options& options_;
  std::optional<OutputFolder> folder_;
  std::optional<AtomicFile> csv_;
  std::optional<AtomicFile> json_;
  std::optional<AtomicFile> plot_;
};

/// Processes one frame at a time, and keeps nothing of it but its line of the report.
class Stack {
 public:
  Stack(const Options& options, const RegistrationOptions& settings, const Device& device,
        const LoadedImage& first, std::optional<LoadedImage> mask, Outputs& outputs)
      : options_(options),
        shape_(first.shape()),
        warper_(device, shape_, shape_),
        outputs_(outputs) {
    naming(options.files[0], [&] {
      registrar_.emplace(device, settings, stack_reference_named(options.to), first,
                         std::move(mask), warper_);
    });
    StackFrame frame{options.files[0], {}, {}, {}};
    frame.place.confidence = frame.place.correlation = frame.place.overlap = 1;
    frame.place.reliable = true;
    if (outputs_.wants_frames()) frame.aligned = outputs_.write_frame(first, 0);
    frames_.push_back(frame);
  }

  /// Registers the next frame. Returns the message if it cannot be used, which does not affect the
  /// others. Throws FileError if an output cannot be written.
  std::optional<std::string> take_next() {
    const std::size_t index = frames_.size();
    StackFrame frame{options_.files[index], {}, {}, {}};
    LoadedImage image;
    try {
      image = load_frame(frame.file);
      naming(frame.file, [&] { frame.place = registrar_->place(image, index); });
    } catch (const FileError& error) {
      frame.trouble = error.what();
    } catch (const UsageError& error) {
      frame.trouble = error.what();
    }
    if (frame.place.reliable && outputs_.wants_frames()) {
      frame.aligned = outputs_.write_frame(warper_.warp(image, frame.place.matrix), index);
    }
    frames_.push_back(frame);
    if (frame.trouble.empty()) return {};
    return frame.trouble;
  }

  [[nodiscard]] const std::vector<StackFrame>& frames() const { return frames_; }

 private:
  [[nodiscard]] LoadedImage load_frame(const std::string& file) const {
    LoadedImage image = load_image(file);
    if (image.shape() != shape_) {
      throw UsageError(fmt::format("{}: is {}, but the first frame is {}", file,
                                   to_string(image.shape()), to_string(shape_)));
    }
    return image;
  }

  const Options& options_;
  Shape shape_;
  FrameWarper warper_;
  Outputs& outputs_;
  std::optional<StackRegistrar> registrar_;
  std::vector<StackFrame> frames_;
};

ExitStatus status_of(const StackReport& report) {
  if (report.count("failed") > 0) return ExitStatus::bad_input;
  return report.count("unreliable") > 0 ? ExitStatus::unreliable : ExitStatus::ok;
}

ExitStatus run(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  StackReport report;
  report.to = stack_reference_named(options.to);
  const RegistrationOptions settings = registration_options_of(options.choices);
  check_names(options);
  const Config config = config_of(options.device.config);
  std::optional<LoadedImage> first = load_registrable(options.files[0]);
  std::optional<LoadedImage> mask;
  if (options.mask) mask = load_mask(*options.mask, first->shape(), "the first frame");
  Outputs outputs(options);

  const Device device = open_chosen(options.device, config);
  std::optional<CompileHelpers> helpers;
  if (!settings.fast) helpers.emplace(options.device, first->type);
  report.shape = first->shape();
  Stack stack(options, settings, device, *first, std::move(mask), outputs);
  first.reset();
  {
    Progress progress(options.files.size() - 1);
    for (std::size_t i = 1; i < options.files.size(); ++i) {
      progress.next(options.files[i]);
      const auto trouble = stack.take_next();
      if (trouble) progress.say(on_one_line(fmt::format("warpalign: frame {}: {}", i, *trouble)));
    }
  }
  report.frames = stack.frames();
  report.device = device.info();
  report.fast = settings.fast;
  outputs.write(report);
  report.files = outputs.names();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  program::report(drift_text(report));
  return status_of(report);
}

constexpr const char* footer =
    "FILES are images of one size in the order of time, numbered from 0; of a TIFF file the first\n"
    "page is read. Only one frame at a time is kept in memory.\n"
    "\n"
    "  --to first     each frame is registered to frame 0\n"
    "  --to previous  each to the last reliable frame before it; the drifts are composed\n"
    "  --to mean      each to the mean of frame 0 and the reliable frames before it, aligned\n"
    "\n"
    "Drift is always measured from frame 0: where its pixels are in the frame. Ranges and "
    "--max-shift\n"
    "limit each registration, not the drift. --mask (0: ignored) applies to every frame.\n"
    "--output-folder receives the reliable frames, resampled onto frame 0's pixel grid by cubic\n"
    "splines, and 0 outside of the frame: 0012_name.png for 8 and 16 bit, 0012_name.tif for "
    "floating\n"
    "point.\n"
    "\n"
    "A frame that cannot be read or used is reported with its number; the others are still "
    "finished.\n"
    "Exit status: 0 all frames registered; 1 some are not reliable; 2 some could not be used, or\n"
    "wrong usage or outputs; 3 device trouble.\n"
    "\n"
    "Examples:\n"
    "  warpalign stack frame*.png --csv drift.csv --plot drift.svg\n"
    "  warpalign stack *.tif --to mean --motion translation --max-shift 20 --output-folder "
    "aligned\n";

}  // namespace

void add_stack_command(CLI::App& program, Action& chosen) {
  CLI::App& command = add_command(
      program, "stack", "Register the frames of a stack or video to one another", "Registration");
  auto options = std::make_shared<Options>();
  add_option(command, "FILES", &options->files, "The frames, two or more", required);
  add_option(command, "--to NAME", &options->to, "first, previous or mean",
             suggesting("first previous mean", with_default));
  add_option(command, "--output-folder FOLDER", &options->folder, "Write the aligned frames here");
  add_option(command, "--csv FILE", &options->csv,
             "Write the drift as CSV, one line for each frame");
  add_option(command, "--json FILE", &options->json, "Write the drift as one JSON object");
  add_option(command, "--plot FILE", &options->plot, "Draw the drift (.svg)");
  add_option(command, "--mask FILE", &options->mask,
             "Image that is 0 where the frames are to be ignored");
  add_registration_options(command, options->choices);
  add_device_options(command, options->device);
  add_message_options(command);
  set_footer(command, footer);
  set_action(command, chosen, [options] { return run(*options); });
}

}  // namespace warpalign::program
