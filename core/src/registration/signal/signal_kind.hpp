// What is compared of two images.
#pragma once

namespace warpalign::detail {

enum class SignalKind {
  intensity,     ///< locally normalized grey levels
  orientation,   ///< gradient orientation, for images of other modalities (GradientFields)
  edge_strength  ///< gradient magnitude, which keeps thin structures on coarse levels (EdgeStrength)
};

}  // namespace warpalign::detail
