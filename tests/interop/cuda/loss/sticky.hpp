// Failing kernels, after which CUDA refuses every use of the device by this process.
#pragma once

#include <string>

namespace test {

enum class Failure { trap, write_nowhere, write_misaligned };

/// The error code that CUDA documents for this failure, as a symbol.
[[nodiscard]] const char* code_of(Failure failure);

/// Runs the failing kernel in the primary context of the calling thread's current device, and
/// waits for it. Returns the error code.
[[nodiscard]] std::string provoke(Failure failure);

}  // namespace test
