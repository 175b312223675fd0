// The extents of volumes along their axes, in the form that kernels take.
#pragma once

#include "device/common_stage.hpp"

namespace warpalign::WA_BACKEND {

struct Extents {
  int width, height, depth;
};

[[nodiscard]] inline Extents extents_of(const Shape& shape, const CallSite& site) {
  return {extent(shape.width, site), extent(shape.height, site), extent(shape.depth, site)};
}

}  // namespace warpalign::WA_BACKEND
