// The weights of separable stages, in device memory.
#include "filter/axis_tables.hpp"

namespace warpalign::cuda {

Constants::Constants(const CallSite& site, const void* values, std::size_t bytes)
    : memory_(site, bytes) {
  site.context.service->upload(values, bytes, memory_.as<void>(), site);
}

AxisTable::AxisTable(const CallSite& site, const backend::AxisWeights& axis)
    : taps_(axis.taps),
      n_(static_cast<int>(axis.first.size())),
      first_(upload(site, axis.first)),
      weights_(upload(site, axis.weights)) {}

Axis AxisTable::axis() const noexcept {
  return {first_.as<int>(), weights_.as<float>(), taps_, n_};
}

}  // namespace warpalign::cuda
