// Independent work on all cores of the host.
#pragma once

#include <cstddef>
#include <functional>

namespace warpalign::program {

/// Calls work(i) for each i below `count` on all cores, and returns when all calls are done.
/// Rethrows an exception of work().
void in_parallel(std::size_t count, const std::function<void(std::size_t i)>& work);

}  // namespace warpalign::program
