// `warpalign doctor`: checks what is installed, what is missing, and whether every device computes
// correctly.
#include "commands/commands.hpp"
#include "doctor/checkup.hpp"
#include "doctor/checkup_report.hpp"
#include "doctor/probes.hpp"
#include "io/messages.hpp"
#include "io/progress.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"
#include "options/common_options.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>

namespace warpalign::program {
namespace {

struct Options {
  DeviceOptions device;
  bool json = false;
  bool quick = false;
  std::optional<int> time_limit;
  std::string probe;       ///< what a child process of the doctor probes; see doctor/probes.hpp
  bool no_config = false;  ///< whether the child process ignores configuration files
};

ExitStatus run(const Options& options) {
  if (!options.probe.empty()) {
    return doctor::answer_probe(options.probe,
                                options.no_config ? Config{} : config_of(options.device.config));
  }
  if (options.time_limit && *options.time_limit < 1) {
    throw UsageError("--time-limit: must be 1 second or more");
  }
  doctor::Checkup checkup;
  {
    Progress progress(0);
    checkup = doctor::check_up(
        {options.device.device, options.device.config, options.quick, options.time_limit},
        [&](const std::string& step) { progress.next(step); });
  }
  if (options.json) {
    fmt::print("{}", json_text(checkup));
  } else {
    report(human_text(checkup));
  }
  return checkup.problems.empty() ? ExitStatus::ok : ExitStatus::problems;
}

constexpr const char* footer =
    "The command examines every OpenCL driver, backend and device in a separate process, so that\n"
    "it can report drivers that crash or hang. It tests each device: the speed of copies, and a\n"
    "Fourier transform, a Sobel filter, a resampling and a registration with known results. The\n"
    "first test of a device compiles its kernels, which can take a minute.\n"
    "\n"
    "If something is missing, the report names the package that provides it on Debian and Fedora.\n"
    "Please attach the output of --json to bug reports.\n"
    "\n"
    "Exit status: 0 no problems; 1 something failed; 2 wrong usage.\n"
    "\n"
    "Examples:\n"
    "  warpalign doctor\n"
    "  warpalign doctor --json > doctor.json\n"
    "  warpalign doctor --device opencl:pocl\n";

}  // namespace

void add_doctor_command(CLI::App& program, Action& chosen) {
  CLI::App& command = add_command(
      program, "doctor", "Examine the installation, the drivers and the devices of this machine",
      "This machine");
  auto options = std::make_shared<Options>();
  begin_group(command, "Examination");
  add_json_option(command, options->json);
  add_option(command, "--quick", &options->quick, "Open the devices without testing them");
  add_option(command, "--time-limit N", &options->time_limit,
             "Seconds for each driver and device [30 to list them, 600 to test them]");
  add_option(command, "--probe", &options->probe, "Run one probe, in a child process of the doctor",
             hidden);
  add_option(command, "--no-config", &options->no_config,
             "Read no configuration file in a child process", hidden);
  add_device_options(command, options->device);
  add_message_options(command);
  set_footer(command, footer);
  set_action(command, chosen, [options] { return run(*options); });
}

}  // namespace warpalign::program
