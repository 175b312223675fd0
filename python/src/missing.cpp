// Finds, fills and marks missing samples, in host memory and on devices.
#include "arrays.hpp"
#include "bindings.hpp"
#include "device_array.hpp"
#include "opened_device.hpp"
#include "spline_calls.hpp"

#include <warpalign/missing.hpp>
#include <warpalign/stages/fill_missing.hpp>

#include <nanobind/stl/optional.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace nb = nanobind;

namespace warpalign::python {
namespace {

template <typename Sample>
void fill_batch(const OutputArray& values, const std::uint8_t* known, const Shape& shape) {
  const auto count = static_cast<std::size_t>(shape.pixels());
  auto* samples = static_cast<Sample*>(values.data());
  for (std::size_t i = 0; i < values.shape(0); ++i) {
    fill_missing(std::span(samples + i * count, count), std::span(known + i * count, count), shape);
  }
}

void fill(const OutputArray& values, const InputArray& known) {
  const int dimensions = static_cast<int>(values.ndim()) - 1;
  if (dimensions < 1 || dimensions > 3) refuse("values must be a batch of 1 to 3 dimensions");
  const PixelType type = pixel_type_of(values.dtype());
  if (type != PixelType::f32 && type != PixelType::f64) refuse("values must be floating-point");
  if (pixel_type_of(known.dtype()) != PixelType::u8 || known.size() != values.size()) {
    refuse("known must hold a byte for each value");
  }
  const Shape shape = shape_of(values, dimensions);
  const auto* bytes = static_cast<const std::uint8_t*>(known.data());
  const nb::gil_scoped_release released;
  if (type == PixelType::f32) {
    fill_batch<float>(values, bytes, shape);
  } else {
    fill_batch<double>(values, bytes, shape);
  }
}

using Queue = std::optional<std::uintptr_t>;

/// Calls use(stream, plan) with a plan for the values, on their queue.
template <typename Use>
void with_fill(OpenedDevice& opened, const DeviceArray& values, int dimensions, const Queue& queue,
               Use&& use) {
  check_dimensions(dimensions);
  if (values.type() != PixelType::f32) refuse("values must be float32");
  const FillMissingSpec spec{values.shape(dimensions), values.batch(dimensions)};
  const nb::gil_scoped_release released;
  opened.with_stream(queue, [&](Stream& stream) {
    with_plan(opened.device, opened.fill_on_device, spec, [&](FillOnDevice& work) {
      // Another queue may still use the plan's memory.
      work.done.wait(stream);
      use(stream, work.plan);
      work.done.record(stream);
    });
  });
}

std::int64_t find_on_device(OpenedDevice& opened, const DeviceArray& values, int dimensions,
                            std::optional<double> nodata, const DeviceArray& known,
                            const Queue& queue) {
  std::int64_t missing = 0;
  const auto value = nodata ? std::optional(static_cast<float>(*nodata)) : std::nullopt;
  with_fill(opened, values, dimensions, queue, [&](Stream& stream, FillMissingPlan& plan) {
    Buffer mask = known.buffer();
    missing = plan.find(stream, values.buffer(), value, mask);
  });
  return missing;
}

void fill_on_device(OpenedDevice& opened, const DeviceArray& values, const DeviceArray& known,
                    int dimensions, const Queue& queue) {
  with_fill(opened, values, dimensions, queue, [&](Stream& stream, FillMissingPlan& plan) {
    Buffer filled = values.buffer();
    plan.fill(stream, filled, known.buffer());
  });
}

void mark_on_device(OpenedDevice& opened, const DeviceArray& shares, const DeviceArray& results,
                    float missing, bool has_outside, std::optional<float> outside,
                    bool avoids_missing, float lowest, float highest, float next,
                    const Queue& queue) {
  const MissingResults how{.missing = missing,
                           .has_outside = has_outside,
                           .outside = outside,
                           .avoids_missing = avoids_missing,
                           .lowest = lowest,
                           .highest = highest,
                           .next = next};
  const nb::gil_scoped_release released;
  const MarkMissingPlan plan(opened.device, static_cast<std::int64_t>(results.size()));
  opened.with_stream(queue, [&](Stream& stream) {
    Buffer known = shares.buffer(), marked = results.buffer();
    plan.execute(stream, how, known, marked);
  });
}

}  // namespace

void bind_missing(nb::module_& module) {
  module.def("fill_missing", &fill, nb::arg("values").noconvert(), nb::arg("known").noconvert(),
             "Replaces the missing samples of a batch of arrays of float32 or float64, of one to "
             "three dimensions. `known`: uint8 of the same shape, 0 where a sample is missing.");
  module.def("find_missing_on_device", &find_on_device, nb::arg("device"), nb::arg("values"),
             nb::arg("dimensions"), nb::arg("nodata").none(), nb::arg("known"),
             nb::arg("queue").none(),
             "Sets `known` (uint8) to 0 where a float32 value is missing, else to 1. Waits, and "
             "returns the number of missing samples.");
  module.def("fill_missing_on_device", &fill_on_device, nb::arg("device"), nb::arg("values"),
             nb::arg("known"), nb::arg("dimensions"), nb::arg("queue").none(),
             "Like fill_missing(), for a batch of float32 arrays on the device.");
  module.def("mark_missing_on_device", &mark_on_device, nb::arg("device"), nb::arg("shares"),
             nb::arg("results"), nb::arg("missing"), nb::arg("has_outside"),
             nb::arg("outside").none(), nb::arg("avoids_missing"), nb::arg("lowest"),
             nb::arg("highest"), nb::arg("next"), nb::arg("queue").none(),
             "Sets float32 results whose known share is too small to `missing`; see "
             "MissingResults.");
  module.attr("MIN_KNOWN_SHARE") = min_known_share;
}

}  // namespace warpalign::python
