// The program's exit statuses.
#pragma once

namespace warpalign::program {

enum class ExitStatus {
  ok = 0,
  unreliable = 1,  ///< no reliable registration, or some frames of a stack have none; the
                   ///< files and the report are still written
  regression = 1,  ///< `bench` only: slower than the baseline; files are still written
  problems = 1,    ///< `doctor` only: something failed
  bad_input = 2,   ///< wrong usage, configuration or input, or an output that cannot be written;
                   ///< if a stack has bad frames, the other frames are still written
  device_trouble = 3,  ///< the device is unavailable, out of memory, or failed
};

}  // namespace warpalign::program
