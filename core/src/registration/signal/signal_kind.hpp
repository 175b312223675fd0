// The quantity by which two images are compared.
#pragma once

namespace warpalign::detail {

enum class SignalKind {
  intensity,     ///< locally normalized intensity
  orientation,   ///< gradient orientation, for different modalities (GradientFields)
  edge_strength  ///< gradient magnitude, which keeps thin structures on coarse levels
                 ///< (EdgeStrength)
};

}  // namespace warpalign::detail
