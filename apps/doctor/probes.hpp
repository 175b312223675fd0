// The probes: the part of the doctor that may crash.
#pragma once

#include "options/exit_status.hpp"

#include <warpalign/config.hpp>

#include <string>

namespace warpalign::program::doctor {

/// Runs a probe, one of the following, and prints the answer on standard output, line by line.
/// Throws UsageError for any other.
///
///     library:FILE   opens a shared library
///     icd:FILE       opens an OpenCL driver, and counts its platforms
///     backend:NAME   loads a backend's module, and lists its devices
///     open:NAME      opens a device; without a name, the one that is used when none is named
///     test:NAME      opens a device, and tests it
ExitStatus answer_probe(const std::string& probe, const Config& config);

}  // namespace warpalign::program::doctor
