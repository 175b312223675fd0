// Transforms whose fields lie in the memory of a device, which maps points there.
#include <warpalign/device_transform.hpp>

#include "device/check.hpp"
#include "transforms/device_state.hpp"
#include "transforms/field_inverse.hpp"
#include "transforms/state.hpp"

#include <algorithm>
#include <vector>

namespace warpalign {

namespace {

constexpr const char* stage = "map_points";

bool consists_of_fields(const detail::TransformState& state) {
  return state.plate == nullptr &&
         std::all_of(state.members.begin(), state.members.end(), [](const Transform& member) {
           return consists_of_fields(detail::TransformState::of(member));
         });
}

detail::UploadedField uploaded(const Device& device, Stream& stream, const detail::Field& field,
                               bool is_inverse) {
  return std::visit(
      [&]<class Value>(std::span<const Value> values) {
        detail::UploadedField result{.values = device.make_buffer(values.size_bytes()),
                                     .is_double = sizeof(Value) == sizeof(double),
                                     .is_cubic = field.basis() != detail::FieldBasis::linear,
                                     .is_inverse = is_inverse,
                                     .shape = field.grid().shape,
                                     .margin = static_cast<int>(field.first_index()[0]),
                                     .point_to_index = field.point_to_index(),
                                     .tolerance = detail::inverse_tolerance(field)};
        stream.upload(values.data(), values.size_bytes(), result.values);
        return result;
      },
      field.values());
}

void append(const Device& device, Stream& stream, const detail::TransformState& state,
            std::vector<detail::DeviceStep>& steps) {
  if (state.is_matrix()) {
    steps.emplace_back(state.matrix);
  } else if (state.field) {
    steps.emplace_back(uploaded(device, stream, *state.field, !state.is_field()));
  }
  for (const Transform& member : state.members)
    append(device, stream, detail::TransformState::of(member), steps);
}

}  // namespace

bool DeviceTransform::is_supported(const Device& device, const Transform& transform) noexcept {
  return device.info().double_precision &&
         consists_of_fields(detail::TransformState::of(transform));
}

DeviceTransform::DeviceTransform(const Device& device, const Transform& transform) {
  if (!device.info().double_precision) {
    detail::refuse(stage, "the device " + device.info().id + " does not support double precision");
  }
  const auto& state = detail::TransformState::of(transform);
  if (!consists_of_fields(state)) {
    detail::refuse(stage, "thin-plate splines are evaluated on the host only");
  }
  Stream stream = device.make_stream();
  std::vector<detail::DeviceStep> steps;
  append(device, stream, state, steps);
  stream.finish();
  state_ = std::make_shared<const State>(
      State{device, state.dimensions,
            detail::Access::driver(device).make(backend::MapPoints::Setup{state.dimensions}),
            std::move(steps)});
}

const Device& DeviceTransform::device() const noexcept { return state_->device; }

int DeviceTransform::dimensions() const noexcept { return state_->dimensions; }

void DeviceTransform::on_grid(Stream& stream, const PointGrid& grid, Image& output,
                              OutsideField outside, ComponentOrder order, bool relative) const {
  detail::check_grid(state_->dimensions, grid);
  Shape all = grid.shape;
  all.depth *= state_->dimensions;
  detail::check_stream(stage, state_->device, stream);
  detail::check_image(stage, "the output", state_->device, output, PixelType::f64, all);
  const auto count = static_cast<std::size_t>(grid.shape.pixels());
  const auto plane = static_cast<std::ptrdiff_t>(count);
  const backend::PointsInMemory points =
      order == ComponentOrder::xyz
          ? backend::PointsInMemory{detail::Access::memory(output), count, 0, {1, plane}}
          : backend::PointsInMemory{detail::Access::memory(output),
                                    count,
                                    count * static_cast<std::size_t>(state_->dimensions - 1),
                                    {1, -plane}};
  backend::Queue& queue = detail::Access::queue(stream);
  state_->kernels->enqueue_grid(queue, grid, points);
  state_->map(stream, points, outside);
  if (relative) state_->kernels->enqueue_displacements(queue, grid, points);
}

void DeviceTransform::positions(Stream& stream, const PointGrid& grid, Image& output,
                                OutsideField outside, ComponentOrder order) const {
  on_grid(stream, grid, output, outside, order, false);
}

void DeviceTransform::field(Stream& stream, const PointGrid& grid, Image& output,
                            OutsideField outside, ComponentOrder order) const {
  on_grid(stream, grid, output, outside, order, true);
}

void DeviceTransform::points(Stream& stream, Image& points, std::size_t count, std::size_t first,
                             const PointStrides& strides, OutsideField outside) const {
  detail::check_stream(stage, state_->device, stream);
  detail::check_image(stage, "the points", state_->device, points, PixelType::f64, points.shape());
  if (count == 0) return;
  const auto corner = [&](std::size_t point, int axis) {
    return static_cast<std::ptrdiff_t>(first) + static_cast<std::ptrdiff_t>(point) * strides.point +
           axis * strides.axis;
  };
  for (const std::size_t point : {std::size_t{0}, count - 1}) {
    for (const int axis : {0, state_->dimensions - 1}) {
      if (corner(point, axis) < 0 || corner(point, axis) >= points.shape().pixels())
        detail::refuse(stage, "the points lie beyond the ends of their memory");
    }
  }
  state_->map(stream, {detail::Access::memory(points), count, first, strides}, outside);
}

}  // namespace warpalign
