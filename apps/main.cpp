// The program `warpalign`: reads the command line, runs the command, and turns errors into one
// line and an exit status.
#include "commands.hpp"
#include "image_io/image_file.hpp"
#include "one_line.hpp"
#include "usage_error.hpp"

#include <warpalign/error.hpp>
#include <warpalign/version.hpp>

#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <array>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>

namespace {

using namespace warpalign::program;
using warpalign::ErrorKind;

constexpr std::array commands{
    add_devices_command,  add_register_command,  add_register_volume_command, add_stack_command,
    add_resample_command, add_prefilter_command, add_experiment_command,      add_bench_command};

constexpr const char* footer =
    "Examples:\n"
    "  warpalign devices                                     which devices there are\n"
    "  warpalign register fixed.png moved.png                what lies between two images\n"
    "  warpalign register fixed.png moved.png --overlay fit.png\n"
    "                                                        ... and a picture of how they fit\n"
    "  warpalign register-volume fixed.npy moved.npy         what lies between two volumes\n"
    "  warpalign stack frame*.png --csv drift.csv            how a stack's frames drift\n"
    "  warpalign resample in.png turned.png --rotate 30      an image read at other points\n"
    "  warpalign prefilter in.npy coefficients.npy           its B-spline coefficients\n"
    "  warpalign experiment rotations in.png                 what repeated interpolation costs\n"
    "  warpalign bench --report bench.html                   how fast everything is here\n"
    "  warpalign register --help                             all options of a command\n";

ExitStatus complain(ExitStatus status, std::string_view text) {
  fmt::print(stderr, "warpalign: {}\n", on_one_line(text));
  return status;
}

/// A failed build comes with the compiler's log: it follows the one line as it is.
ExitStatus complain_about_build(std::string_view text) {
  const std::size_t end = text.find('\n');
  complain(ExitStatus::device_trouble, text.substr(0, end));
  if (end != std::string_view::npos) fmt::print(stderr, "{}\n", text.substr(end + 1));
  return ExitStatus::device_trouble;
}

ExitStatus complain_about(const warpalign::Error& error) {
  switch (error.kind()) {
    case ErrorKind::invalid_argument:
    case ErrorKind::invalid_image:
    case ErrorKind::configuration:
      return complain(ExitStatus::bad_input, error.what());
    case ErrorKind::build_failed:
      return complain_about_build(error.what());
    case ErrorKind::device_unavailable:
    case ErrorKind::out_of_memory:
    case ErrorKind::device_failure:
      break;
  }
  return complain(ExitStatus::device_trouble, error.what());
}

std::string names_of(const CLI::App& program) {
  std::string names;
  for (const CLI::App* command : program.get_subcommands({})) {
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  return names;
}

ExitStatus run_command_line(int argc, char** argv) {
  CLI::App program("Warps and aligns images on CUDA and OpenCL devices.", "warpalign");
  Action chosen;
  program.set_version_flag("--version", fmt::format("warpalign {}", warpalign::version()));
  program.footer(footer);
  program.require_subcommand(0, 1);  // an argument may be called as another command
  for (const auto add_command : commands) add_command(program, chosen);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      program.exit(error);  // prints --help or --version
      return ExitStatus::ok;
    }
    return complain(ExitStatus::bad_input, fmt::format("{}; see 'warpalign --help'", error.what()));
  }
  if (!chosen) {
    return complain(ExitStatus::bad_input,
                    fmt::format("name a command: {}; see 'warpalign --help'", names_of(program)));
  }
  return chosen();
}

ExitStatus run_guarded(int argc, char** argv) {
  try {
    return run_command_line(argc, argv);
  } catch (const UsageError& error) {
    return complain(ExitStatus::bad_input, error.what());
  } catch (const FileError& error) {
    return complain(ExitStatus::bad_input, error.what());
  } catch (const warpalign::Error& error) {
    return complain_about(error);
  } catch (const std::bad_alloc&) {
    return complain(ExitStatus::device_trouble,
                    "the machine has not enough memory for these images; use smaller ones");
  } catch (const std::exception& error) {
    return complain(ExitStatus::device_trouble, fmt::format("unexpected: {}", error.what()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  ExitStatus status = run_guarded(argc, argv);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    status = complain(ExitStatus::bad_input,
                      "standard output cannot be written; check where it is redirected to");
  }
  return static_cast<int>(status);
}
