// How this backend makes its stages: the file of each one defines make() for its class, and the
// driver calls it for every stage of the list (stage_list.hpp).
#pragma once

#include "device/context.hpp"

#include <memory>

namespace warpalign::opencl {

template <class Stage>
std::unique_ptr<Stage> make(Context& context, const typename Stage::Setup& setup);

/// An extent as kernels take it; Error(invalid_argument) beyond what an int holds.
[[nodiscard]] cl_int to_int(std::int64_t extent, const CallSite& site);

}  // namespace warpalign::opencl
