// How this backend makes its stages: the file of each stage defines make() for its class, and the
// driver calls it for every stage of the list (warpalign/backend/stage_list.hpp).
#pragma once

#include "device/context.hpp"

#include <memory>

namespace warpalign::opencl {

template <class Stage>
std::unique_ptr<Stage> make(Context& context, const typename Stage::Setup& setup);

/// An extent as kernels take it. Throws Error(invalid_argument) above a quarter of the largest int.
[[nodiscard]] cl_int to_int(std::int64_t extent, const CallSite& site);

}  // namespace warpalign::opencl
