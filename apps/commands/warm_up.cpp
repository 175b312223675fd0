// `warpalign warm-up`: compiles ahead of time what the other commands need on a device.
#include "commands/commands.hpp"
#include "commands/compile_helpers.hpp"
#include "commands/small_jobs.hpp"
#include "io/messages.hpp"
#include "io/status_line.hpp"
#include "options/command_line.hpp"
#include "options/common_options.hpp"

#include <warpalign/compilation.hpp>
#include <warpalign/open_device.hpp>

#include <fmt/format.h>

#include <chrono>
#include <memory>

namespace warpalign::program {
namespace {

struct Options {
  DeviceOptions device;
  std::string part;  ///< of a process that another one started; see CompileHelpers
};

void warm_up(const Options& options, const Config& config, const Device& device) {
  for (const PixelType type : {PixelType::u8, PixelType::u16, PixelType::f32}) {
    const CompileHelpers helpers(options.device, config, type);
    register_small_images(device, type);
  }
  for (const PixelType type : {PixelType::u8, PixelType::u16, PixelType::f32}) {
    resample_small_images(device, type);
    register_small_volumes(device, type);
  }
  keep_compiled(device);
}

ExitStatus run(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const Config config = config_of(options.device.config);
  const Device device = open_for_one_job(options.device, config);
  if (!options.part.empty()) {
    CompileHelpers::help(device, helper_part(options.part));
    return ExitStatus::ok;
  }
  {
    const Activity activity("warming " + device.info().id + " up");
    warm_up(options, config, device);
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report(fmt::format("{} ({}) is ready, after {:.1f} s\n", device.info().id, device.info().name,
                     seconds));
  return ExitStatus::ok;
}

constexpr const char* footer =
    "Kernels for OpenCL devices are compiled on the device's first use, which takes seconds, and\n"
    "kept on disk. This command does so for registration (both pipelines), stacks, resampling and\n"
    "volumes, by running small examples of each. What depends on the size of images, such as the\n"
    "Fourier transforms of 'register --fast', is still compiled when it is met. A CUDA device has\n"
    "nothing to compile.\n"
    "\n"
    "Examples:\n"
    "  warpalign warm-up\n"
    "  warpalign warm-up --device opencl:pocl\n";

}  // namespace

void add_warm_up_command(CLI::App& program, Action& chosen) {
  CLI::App& command = add_command(
      program, "warm-up", "Compile ahead of time what a device's first use needs", "This machine");
  auto options = std::make_shared<Options>();
  add_device_options(command, options->device);
  add_option(command, "--part", &options->part, "What a helping process compiles", hidden);
  add_message_options(command);
  set_footer(command, footer);
  set_action(command, chosen, [options] { return run(*options); });
}

}  // namespace warpalign::program
