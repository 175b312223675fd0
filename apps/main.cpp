// The program `warpalign`: reads the command line, runs the command, and turns errors into one
// line and an exit status.
#include "commands/commands.hpp"
#include "commands/compilation_watch.hpp"
#include "io/image_file.hpp"
#include "io/messages.hpp"
#include "io/one_line.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"

#include <warpalign/error.hpp>
#include <warpalign/installation.hpp>
#include <warpalign/version.hpp>

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>

namespace {

using namespace warpalign::program;
using warpalign::ErrorKind;

/// In the order of --help.
constexpr std::array commands{
    add_register_command,   add_register_volume_command, add_stack_command,
    add_mosaic_command,     add_template_command,        add_transform_command,
    add_resample_command,   add_prefilter_command,       add_devices_command,
    add_doctor_command,     add_warm_up_command,         add_bench_command,
    add_experiment_command, add_completion_command,      add_man_command};

constexpr const char* footer =
    "'warpalign COMMAND --help' explains a command and all its options. The first use of an "
    "OpenCL\n"
    "device takes longer, because it compiles the kernels.\n"
    "\n"
    "Exit status: 0 done; 1 no reliable registration, a regression or a problem found; 2 wrong "
    "usage\n"
    "or input; 3 device trouble.\n"
    "\n"
    "Examples:\n"
    "  warpalign doctor                                      check the installation\n"
    "  warpalign register fixed.png moved.png                find the transform of two images\n"
    "  warpalign register fixed.png moved.png --overlay fit.png   and show how well they fit\n"
    "  warpalign register-volume fixed.npy moved.npy         the same for two volumes\n"
    "  warpalign stack frame*.png --csv drift.csv            measure the drift of a stack\n"
    "  warpalign mosaic scan --positions stage.csv --output mosaic.ome.tif   join tiles\n"
    "  warpalign template brain*.tif --output mean.tif       build the mean shape of images\n"
    "  warpalign resample in.png rotated.png --rotate 30     rotate an image by 30 degrees\n"
    "  warpalign prefilter in.npy coefficients.npy           compute B-spline coefficients\n"
    "  warpalign bench --report bench.html                   measure the speed of this machine\n";

ExitStatus report_error(ExitStatus status, std::string_view text) {
  fmt::print(stderr, "warpalign: {}\n", on_one_line(text));
  return status;
}

/// Reports a failed kernel build: the message on one line, then the compiler's log unchanged.
ExitStatus report_build_failure(std::string_view text) {
  const std::size_t end = text.find('\n');
  report_error(ExitStatus::device_trouble, text.substr(0, end));
  if (end != std::string_view::npos) fmt::print(stderr, "{}\n", text.substr(end + 1));
  return ExitStatus::device_trouble;
}

ExitStatus report_failure(const warpalign::Error& error) {
  switch (error.kind()) {
    case ErrorKind::invalid_argument:
    case ErrorKind::invalid_image:
    case ErrorKind::configuration:
      return report_error(ExitStatus::bad_input, error.what());
    case ErrorKind::build_failed:
      return report_build_failure(error.what());
    case ErrorKind::device_unavailable:
    case ErrorKind::out_of_memory:
    case ErrorKind::device_failure:
      break;
  }
  return report_error(ExitStatus::device_trouble, error.what());
}

ExitStatus run_command_line(int argc, char** argv) {
  CommandLine line("warpalign", "Warp and align images on CUDA and OpenCL devices");
  Action chosen;
  line.set_version(fmt::format("warpalign {}", warpalign::version()));
  set_footer(line.program(), footer);
  for (const auto add_command : commands) add_command(line.program(), chosen);
  if (!line.parse(argc, argv)) return ExitStatus::ok;
  if (!chosen) {
    throw UsageError(fmt::format("no command given (choose from: {}); see 'warpalign --help'",
                                 line.command_names()));
  }
  return chosen();
}

ExitStatus run_guarded(int argc, char** argv) {
  try {
    return run_command_line(argc, argv);
  } catch (const UsageError& error) {
    return report_error(ExitStatus::bad_input, error.what());
  } catch (const FileError& error) {
    return report_error(ExitStatus::bad_input, error.what());
  } catch (const warpalign::Error& error) {
    return report_failure(error);
  } catch (const std::bad_alloc&) {
    return report_error(ExitStatus::device_trouble,
                        "not enough memory for these images; use smaller ones");
  } catch (const std::exception& error) {
    return report_error(ExitStatus::device_trouble,
                        fmt::format("unexpected error: {}", error.what()));
  }
}

/// Warns if the kernel cache is unusable, which makes every run slower.
void warn_about_cache() {
  const std::string problem = warpalign::kernel_cache_problem();
  if (problem.empty() || verbosity() == Verbosity::quiet) return;
  fmt::print(stderr, "warpalign: compiled kernels are not kept: {}; see 'warpalign doctor'\n",
             on_one_line(problem));
}

}  // namespace

int main(int argc, char** argv) {
  const CompilationWatch watch;
  ExitStatus status = run_guarded(argc, argv);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    status = report_error(ExitStatus::bad_input,
                          "standard output cannot be written; check its redirection");
  }
  warn_about_cache();
  return static_cast<int>(status);
}
