// `warpalign warm-up`: compiles the kernels of the other commands in advance.
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
  std::string part;  ///< set in a helper process; see CompileHelpers
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
  store_compiled_kernels(device);
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
    "The first use of an OpenCL device compiles kernels, which takes seconds, and stores them on\n"
    "disk. This command compiles them in advance by running small examples of registration (both\n"
    "pipelines), stacks, resampling and volumes. Kernels that depend on the size of images, such\n"
    "as the Fourier transforms of 'register --fast', are still compiled when they are needed. A\n"
    "CUDA device has nothing to compile.\n"
    "\n"
    "Examples:\n"
    "  warpalign warm-up\n"
    "  warpalign warm-up --device opencl:pocl\n";

}  // namespace

void add_warm_up_command(CLI::App& program, Action& chosen) {
  CLI::App& command =
      add_command(program, "warm-up", "Compile a device's kernels in advance", "This machine");
  auto options = std::make_shared<Options>();
  add_device_options(command, options->device);
  add_option(command, "--part", &options->part, "The jobs that a helper process compiles", hidden);
  add_message_options(command);
  set_footer(command, footer);
  set_action(command, chosen, [options] { return run(*options); });
}

}  // namespace warpalign::program
