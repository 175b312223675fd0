// What a probe does: the side of the doctor that may crash.
#pragma once

#include "options/exit_status.hpp"

#include <warpalign/config.hpp>

#include <string>

namespace warpalign::program::doctor {

/// `probe` is one of the following; the answer goes to standard output, line by line. Throws
/// UsageError for anything else.
///
///     library:FILE   opens a shared library
///     icd:FILE       opens an OpenCL driver, and counts its platforms
///     backend:NAME   loads a backend's module, and lists its devices
///     open:NAME      opens a device; without a name, the one that is used when none is named
///     test:NAME      opens a device, and tests it
ExitStatus answer_probe(const std::string& probe, const Config& config);

}  // namespace warpalign::program::doctor
