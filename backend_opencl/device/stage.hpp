// How this backend creates its stages: the file of each stage defines make() for its class, and the
// driver calls it for every stage of the list (warpalign/backend/stage_list.hpp).
#pragma once

#include "device/context.hpp"

#include <memory>

namespace warpalign::opencl {

template <class Stage>
std::unique_ptr<Stage> make(Context& context, const typename Stage::Setup& setup);

/// Converts an extent to the int that kernels index with. Throws Error(invalid_argument) if it does
/// not fit.
[[nodiscard]] cl_int extent(std::int64_t n, const CallSite& site);

}  // namespace warpalign::opencl
