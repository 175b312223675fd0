// Why compiled kernels are not kept, for kernel_cache_problem().
#pragma once

#include <string>

namespace warpalign::detail {

/// Remembers the reason unless it is empty or known. Any thread may call it.
void note_cache_problem(const std::string& reason);

}  // namespace warpalign::detail
