// Chains with one displacement field.
#include "transforms/field_chain.hpp"

#include "transforms/matrices.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::detail {

namespace {

// The limits of backend::WarpByField.
constexpr double farthest = 0x1p29;
constexpr std::int64_t max_output_extent = std::int64_t{1} << 24U;

// A field sampled this far from a pixel, in distances between its samples, differs by that fraction
// of the difference between neighbours.
constexpr double same_index = 1e-6;

bool is_plain_field(const DeviceStep& step) {
  const auto* field = std::get_if<UploadedField>(&step);
  return field != nullptr && !field->is_cubic && !field->is_inverse;
}

/// The largest sum of absolute products of the first three rows, for indices below the extents.
double reach(const HomogeneousMatrix& matrix, const Shape& extents) {
  double farthest_row = 0;
  for (std::size_t row = 0; row < 3; ++row) {
    const double* m = matrix.m.data() + 4 * row;
    farthest_row = std::max(farthest_row, std::abs(m[0]) * static_cast<double>(extents.width) +
                                              std::abs(m[1]) * static_cast<double>(extents.height) +
                                              std::abs(m[2]) * static_cast<double>(extents.depth) +
                                              std::abs(m[3]));
  }
  return farthest_row;
}

bool keeps_indices(const HomogeneousMatrix& to_index, const Shape& output, const Shape& field) {
  HomogeneousMatrix difference = to_index;
  for (std::size_t row = 0; row < 3; ++row) difference.m[5 * row] -= 1;
  return output.width <= field.width && output.height <= field.height &&
         output.depth <= field.depth && reach(difference, output) <= same_index;
}

HomogeneousMatrix product_of(std::span<const DeviceStep> matrices) {
  HomogeneousMatrix all;
  for (const DeviceStep& step : matrices) all = product(std::get<HomogeneousMatrix>(step), all);
  return all;
}

bool are_matrices(std::span<const DeviceStep> steps) {
  return std::all_of(steps.begin(), steps.end(), [](const DeviceStep& step) {
    return std::holds_alternative<HomogeneousMatrix>(step);
  });
}

}  // namespace

std::optional<backend::FieldWarp> field_warp(std::span<const DeviceStep> chain, const Shape& output,
                                             OutsideField outside) {
  const auto at = std::find_if(chain.begin(), chain.end(), is_plain_field);
  if (at == chain.end()) return std::nullopt;
  const auto place = static_cast<std::size_t>(at - chain.begin());
  if (!are_matrices(chain.first(place)) || !are_matrices(chain.subspan(place + 1))) {
    return std::nullopt;
  }
  const HomogeneousMatrix before = product_of(chain.first(place));
  const HomogeneousMatrix after = product_of(chain.subspan(place + 1));
  const auto& field = std::get<UploadedField>(*at);
  backend::FieldWarp warp{.field = field.in_memory(),
                          .to_index = product(field.point_to_index, before),
                          .to_input = product(after, before),
                          .linear = {},
                          .is_on_grid = false,
                          .outside = outside};
  if (std::max({output.width, output.height, output.depth}) > max_output_extent ||
      !before.is_affine() || !(reach(warp.to_index, output) < farthest) ||
      !(reach(warp.to_input, output) < farthest)) {
    return std::nullopt;
  }
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 3; ++column)
      warp.linear[3 * row + column] = after.m[4 * row + column];
  }
  warp.is_on_grid = keeps_indices(warp.to_index, output, field.shape);
  return warp;
}

}  // namespace warpalign::detail
