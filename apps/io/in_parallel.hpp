// Independent work on all cores of the host.
#pragma once

#include <cstddef>
#include <functional>

namespace warpalign::program {

/// Calls work(i) once for each i below `count`, on as many threads as there are cores, and returns
/// when all are done. Rethrows what one of them threw.
void in_parallel(std::size_t count, const std::function<void(std::size_t i)>& work);

}  // namespace warpalign::program
