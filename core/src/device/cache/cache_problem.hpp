// The reasons why compiled kernels could not be stored, for kernel_cache_problem().
#pragma once

#include <string>

namespace warpalign::detail {

/// Records the reason, unless it is empty or recorded already. Thread-safe.
void note_cache_problem(const std::string& reason);

}  // namespace warpalign::detail
