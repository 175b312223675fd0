// How this backend makes its stages: the file of each one defines make() for its class, and the
// driver calls it for every stage of the list (stage_list.hpp).
#pragma once

#include "device/context.hpp"

#include <memory>

namespace warpalign::cuda {

template <class Stage>
std::unique_ptr<Stage> make(const Context& context, const typename Stage::Setup& setup);

}  // namespace warpalign::cuda
