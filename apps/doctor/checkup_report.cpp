// The doctor's report as text.
#include "doctor/checkup_report.hpp"

#include "io/terminal.hpp"

#include <warpalign/version.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace warpalign::program::doctor {
namespace {

enum class Status { ok, note, problem };

std::string marked(Status mark) {
  switch (mark) {
    case Status::ok:
      return coloured("ok     ", Colour::green);
    case Status::note:
      return coloured("note   ", Colour::yellow);
    case Status::problem:
      break;
  }
  return coloured("PROBLEM", Colour::red);
}

/// Formats a line such as "  ok       name          text".
std::string line(Status mark, const std::string& name, const std::string& text) {
  constexpr int name_columns = 22;
  const std::string blanks(11, ' ');
  std::string whole = wrapped(blanks + fmt::format("{:<{}} ", name, name_columns), text);
  return "  " + marked(mark) + whole.substr(9);
}

std::string setting(const std::string& name, const std::string& text) {
  return wrapped(fmt::format("  {:<15}", name), text);
}

std::string counted(std::size_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string conclusion(const Checkup& checkup) {
  const std::string head = fmt::format("warpalign {}: ", version());
  if (!checkup.problems.empty()) {
    return head + coloured(counted(checkup.problems.size(), "problem") + " found", Colour::red) +
           "; see the end of this report\n";
  }
  const bool tested = std::any_of(checkup.devices.begin(), checkup.devices.end(),
                                  [](const TestedDevice& device) { return !device.tests.empty(); });
  const bool one = checkup.devices.size() == 1;
  return head + coloured("all is well", Colour::green) +
         fmt::format(", {} {}\n", counted(checkup.devices.size(), "device"),
                     tested ? (one ? "passes its self-tests" : "pass their self-tests")
                            : (one ? "opens" : "open"));
}

std::string configuration_text(const Checkup& checkup) {
  const std::string user_file = checkup.installation.config_file.string();
  if (!checkup.config_problem.empty()) return checkup.config_problem;
  if (!checkup.config_file.empty()) return checkup.config_file;
  return user_file.empty() ? "none" : fmt::format("none; {} would be read", user_file);
}

std::string cache_text(const KernelCache& cache) {
  if (cache.folder.empty()) return cache.problem;
  const std::string state = cache.exists
                                ? fmt::format("{}, {:.1f} MiB", counted(cache.entries, "kernel"),
                                              static_cast<double>(cache.bytes) / 1048576)
                                : "not there yet";
  return fmt::format("{}: {}, {}", cache.folder.string(), state,
                     cache.problem.empty() ? "can be written to" : cache.problem);
}

std::string installation_lines(const Checkup& checkup) {
  const Installation& found = checkup.installation;
  std::string text = "installation\n" + setting("library", found.library.string());
  text += setting("modules", fmt::format("{} (interface {}): {}", found.module_folder.string(),
                                         found.module_abi, fmt::join(found.backends, ", ")));
  text += setting("configuration", configuration_text(checkup));
  text += setting("kernel cache", cache_text(checkup.cache));
  std::string name = "environment";
  for (const auto& [variable, value] : checkup.variables) {
    text += setting(name, variable + "=" + value);
    name.clear();
  }
  return text + "\n";
}

std::string driver_lines(const Checkup& checkup) {
  std::string text = fmt::format("OpenCL drivers (ICDs), from {}\n", checkup.icds.origin);
  if (checkup.drivers.empty()) text += line(Status::note, "none", "");
  for (const Icd& icd : checkup.drivers) {
    const std::string name = icd.file.file.substr(icd.file.file.rfind('/') + 1);
    const std::string good = fmt::format(
        "{}, {}", icd.loaded_from, counted(static_cast<std::size_t>(icd.platforms), "platform"));
    const Status mark =
        !icd.problem.empty() ? Status::problem : (icd.platforms == 0 ? Status::note : Status::ok);
    text += line(mark, name.empty() ? "(no file)" : name,
                 icd.problem.empty() ? good : icd.file.library + ": " + icd.problem);
  }
  if (!checkup.left_out.empty()) {
    text += wrapped("           ", "What follows was examined without " + checkup.left_out + ".");
  }
  return text + "\n";
}

std::string backend_text(const Backend& backend) {
  std::string text = backend.module.file.filename().string();
  if (const Library* loader = backend.library("libOpenCL")) {
    text += fmt::format("; OpenCL loader {}, {}", loader->file,
                        loader->how == "linked" ? "linked" : "opened at run time");
  }
  text += "; " + counted(backend.devices.size(), "device");
  return text;
}

std::string backend_lines(const Checkup& checkup) {
  std::string text = "backends, best first\n";
  for (const Backend& backend : checkup.backends) {
    const bool usable = backend.problem.empty() && !backend.devices.empty();
    const bool broken =
        backend.module.exists && (!backend.module.loads || !backend.module.problem.empty());
    text += line(usable ? Status::ok : (broken ? Status::problem : Status::note),
                 backend.module.backend, usable ? backend_text(backend) : backend.problem);
  }
  text += "\nFFT libraries\n";
  for (const FftLibrary& fft : checkup.ffts) text += setting(fft.name, fft.state);
  if (checkup.ffts.empty()) text += setting("none", "");
  return text + "\n";
}

std::string device_lines(const TestedDevice& device, bool is_default) {
  std::string text =
      fmt::format("device {}{}\n", device.id, is_default ? ", used when none is named" : "");
  if (!device.name.empty()) {
    text += setting("name",
                    fmt::format("{} ({}, driver {})", device.name, device.platform, device.driver));
    text += setting("sampling", device.sampling + (device.sampling_reason.empty()
                                                       ? ""
                                                       : " (" + device.sampling_reason + ")"));
    text += setting("FFT", device.fft);
  }
  for (const TestResult& test : device.tests) {
    text += line(test.passed ? Status::ok : Status::problem, test.name,
                 fmt::format("{:6.2f} s  {}", test.seconds, test.detail));
  }
  if (!device.problem.empty()) text += line(Status::problem, "ended", device.problem);
  return text + "\n";
}

std::string remark_lines(const std::string& title, const std::vector<Remark>& remarks) {
  if (remarks.empty()) return {};
  std::string text = title + "\n";
  for (std::size_t i = 0; i < remarks.size(); ++i) {
    const Remark& remark = remarks[i];
    text += wrapped(fmt::format("  {}. ", i + 1), remark.text);
    const Packages& packages = remark.packages;
    if (!packages.debian.empty()) text += wrapped("     Debian: ", packages.debian);
    if (!packages.fedora.empty()) text += wrapped("     Fedora: ", packages.fedora);
    if (!packages.elsewhere.empty()) text += wrapped("     ", packages.elsewhere);
  }
  return text + "\n";
}

}  // namespace

std::string human_text(const Checkup& checkup) {
  std::string text = conclusion(checkup) + "\n" + installation_lines(checkup) +
                     driver_lines(checkup) + backend_lines(checkup);
  for (const TestedDevice& device : checkup.devices) {
    text += device_lines(device, device.id == checkup.default_device);
  }
  text += remark_lines("notes: nothing is wrong, but this would add to it", checkup.notes) +
          remark_lines("problems", checkup.problems);
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace warpalign::program::doctor
