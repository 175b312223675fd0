// The weights of separable stages, on the device.
#include "filter/axis_tables.hpp"

#include "device/queue.hpp"

namespace warpalign::cuda {

Constants::Constants(const Place& place, const void* values, std::size_t bytes)
    : memory_(place, bytes) {
  StreamQueue(place.context).upload({values, 1, bytes, bytes}, memory_);
}

AxisTable::AxisTable(const Place& place, const backend::AxisWeights& axis)
    : taps_(axis.taps),
      n_(static_cast<int>(axis.first.size())),
      first_(upload(place, axis.first)),
      weights_(upload(place, axis.weights)) {}

Axis AxisTable::axis() const noexcept {
  return {first_.as<int>(), weights_.as<float>(), taps_, n_};
}

}  // namespace warpalign::cuda
