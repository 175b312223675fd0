// How this backend creates its stages: the file of each stage defines make() for its class, and the
// driver calls it for every stage in stage_list.hpp.
#pragma once

#include "device/context.hpp"

#include <memory>

namespace warpalign::cuda {

template <class Stage>
std::unique_ptr<Stage> make(const Context& context, const typename Stage::Setup& setup);

}  // namespace warpalign::cuda
