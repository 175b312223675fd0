// Kernels that fail, so that CUDA refuses whatever the process asks of the device afterwards.
#pragma once

#include <string>

namespace test {

enum class Failure { trap, write_nowhere, write_misaligned };

/// The symbolic code that CUDA documents for it.
[[nodiscard]] const char* code_of(Failure failure);

/// Runs the failing kernel in the primary context of the calling thread's current device, and waits
/// for it. Returns the code with which that failed.
[[nodiscard]] std::string provoke(Failure failure);

}  // namespace test
