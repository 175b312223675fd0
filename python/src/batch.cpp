// Registration of many pairs, on several devices at once.
#include "arrays.hpp"
#include "bindings.hpp"
#include "errors.hpp"
#include "interruptible.hpp"
#include "opened_device.hpp"
#include "registration.hpp"

#include <warpalign/batch.hpp>

#include <nanobind/stl/array.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace warpalign::python {
namespace {

/// Keeps the arrays of a pair alive. The thread that drops the last reference may not hold the GIL.
struct PairArrays {
  std::vector<InputArray> arrays;
  PairArrays() = default;
  PairArrays(const PairArrays&) = delete;
  PairArrays& operator=(const PairArrays&) = delete;
  ~PairArrays() {
    const nb::gil_scoped_acquire acquired;
    arrays.clear();
  }
};

/// `source(i)` returns (reference, moving, reference's mask or None, moving image's mask or None,
/// nine numbers of the initial transform in (x, y) or None).
HostPair pair_from(const nb::callable& source, std::size_t index) {
  const nb::gil_scoped_acquire acquired;
  const auto given = nb::cast<nb::tuple>(source(index));
  auto owner = std::make_shared<PairArrays>();
  const auto view = [&](std::size_t i) -> std::optional<HostImage> {
    const nb::object item = given[i];
    if (item.is_none()) return {};
    owner->arrays.push_back(nb::cast<InputArray>(item));
    return host_image(owner->arrays.back());
  };
  HostPair pair{view(0).value_or(HostImage{}), view(1).value_or(HostImage{}), view(2), view(3), {}};
  pair.owner = std::move(owner);
  if (const nb::object initial = given[4]; !initial.is_none()) {
    pair.initial = Homography(nb::cast<std::array<double, 9>>(initial));
  }
  return pair;
}

nb::object object_of(const BatchResult& result) {
  if (result.error) return exception_of(*result.error);
  return dict_of(*result.result);
}

/// Calls sink(index, result, device) with a dictionary or an exception for each pair, in the order
/// in which the pairs are finished.
void register_pairs(const std::vector<OpenedDevice*>& opened, std::size_t pairs,
                    const nb::callable& source, const nb::callable& sink,
                    const RegistrationOptions& options, int streams) {
  std::vector<Device> devices;
  for (const OpenedDevice* device : opened) devices.push_back(device->device);
  std::atomic<bool> go_on{true};
  const PairSource supply = [&](std::size_t index) { return pair_from(source, index); };
  const PairSink receive = [&](std::size_t index, const BatchResult& result) {
    if (!go_on) return false;
    const nb::gil_scoped_acquire acquired;
    sink(index, object_of(result), result.device);
    return go_on.load();
  };
  BatchOptions batch_options;
  batch_options.streams_per_device = streams;
  run_interruptibly(go_on,
                    [&] { align_batch(devices, pairs, supply, receive, options, batch_options); });
}

}  // namespace

void bind_batch(nb::module_& module) {
  module.def("register_pairs", &register_pairs, nb::arg("devices"), nb::arg("pairs"),
             nb::arg("source"), nb::arg("sink"), nb::arg("options"), nb::arg("streams"),
             "Register pairs on several devices; see :func:`warpalign.register_batch`.");
}

}  // namespace warpalign::python
