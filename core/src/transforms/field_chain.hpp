// Chains with one displacement field, which a kernel can sample where it evaluates a spline.
#pragma once

#include "transforms/device_state.hpp"

#include <warpalign/backend/stages/spline/warp_by_field.hpp>

#include <optional>
#include <span>

namespace warpalign::detail {

/// How a chain reads the pixels of an image of shape `output`, if it consists of affine matrices, a
/// displacement field that is interpolated linearly, and then matrices; else nothing. Points must
/// be near enough, and the shape small enough, for backend::WarpByField.
[[nodiscard]] std::optional<backend::FieldWarp> field_warp(std::span<const DeviceStep> chain,
                                                           const Shape& output,
                                                           OutsideField outside);

}  // namespace warpalign::detail
