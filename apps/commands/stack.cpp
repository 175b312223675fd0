// `warpalign stack`: finds how a stack's or a video's frames drift, and takes the drift out.
#include "commands/commands.hpp"
#include "commands/compile_helpers.hpp"
#include "commands/stack_input.hpp"
#include "commands/stack_options.hpp"
#include "commands/stack_outputs.hpp"
#include "commands/stack_work.hpp"
#include "io/frames/input_files.hpp"
#include "io/messages.hpp"
#include "io/one_line.hpp"
#include "io/progress.hpp"
#include "io/registrable_image.hpp"
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

/// Goes through the frames, and tells of each as it is done.
void work_through(StackInput& input, StackWork& work, StackOutputs& outputs, StackTotals& totals) {
  const FrameCount count = input.count();
  Progress progress(count.exact ? count.frames - 1 : 0);
  const auto tell = [&](const StackFrame& frame) {
    totals.count(frame);
    progress.pause();
    outputs.report(frame);
    if (frame.trouble.empty()) return;
    progress.say(on_one_line(fmt::format("warpalign: frame {}: {}", frame.index, frame.trouble)));
  };
  tell(work.take_first(input.first()));
  input.drop_first_pixels();
  for (std::size_t index = 1; const std::optional<Frame> frame = input.next(); ++index) {
    progress.next(frame->name);
    tell(work.take(*frame, index));
  }
  totals.ended_early = input.ended_early();
  if (!totals.ended_early.empty()) {
    progress.say(on_one_line(fmt::format("warpalign: {}", totals.ended_early)));
  }
}

ExitStatus run(StackOptions options) {
  const auto start = std::chrono::steady_clock::now();
  const RegistrationOptions settings = registration_options_of(options.choices);
  StackSetting setting;
  setting.to = stack_reference_named(options.to);
  setting.fast = settings.fast;
  options.files = input_files(options.files);
  check_stack_names(options);
  const Config config = config_of(options.device.config);
  StackInput input(options.files, {options.channel, options.slice});
  setting.shape = input.first().image.shape();
  std::optional<LoadedImage> mask;
  if (options.mask) mask = load_mask(*options.mask, setting.shape, "the first frame");
  StackOutputs outputs(options, input);

  const Device device = open_chosen(options.device, config);
  setting.device = device.info();
  std::optional<CompileHelpers> helpers;
  if (!settings.fast && CompileHelpers::know(input.first().image.type)) {
    helpers.emplace(options.device, input.first().image.type);
  }
  StackWork work(device, settings, setting.to, input.first(), std::move(mask), outputs);
  outputs.start(setting);
  StackTotals totals;
  work_through(input, work, outputs, totals);
  outputs.finish(totals);
  totals.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  program::report(text_end(setting, totals), outputs.text());
  return status_of(totals);
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
  auto options = std::make_shared<StackOptions>();
  add_stack_options(command, *options);
  set_footer(command, footer);
  set_action(command, chosen, [options] { return run(*options); });
}

}  // namespace warpalign::program
