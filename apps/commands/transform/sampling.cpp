// How much a transform changes when a file keeps only its samples.
#include "commands/transform/sampling.hpp"

#include "io/messages.hpp"
#include "transform_files/field_images.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace warpalign::program {
namespace {

/// The middles of up to 32 cells along each axis.
std::vector<double> middles_of(const PointGrid& grid, int dimensions) {
  constexpr std::int64_t max_along = 32;
  const std::array<std::int64_t, 3> shape{grid.shape.width, grid.shape.height, grid.shape.depth};
  std::array<std::int64_t, 3> count{1, 1, 1};
  for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
    count[a] = std::clamp<std::int64_t>(shape[a] - 1, 1, max_along);
  }
  const auto middle = [&](std::size_t axis, std::int64_t i) {
    const std::int64_t cells = shape[axis] - 1;
    return cells < 1 ? 0.0 : static_cast<double>(cells * (2 * i + 1) / (2 * count[axis])) + 0.5;
  };
  const auto m = grid.index_to_point().m;
  std::vector<double> points;
  for (std::int64_t k = 0; k < count[2]; ++k) {
    for (std::int64_t j = 0; j < count[1]; ++j) {
      for (std::int64_t i = 0; i < count[0]; ++i) {
        const std::array<double, 3> at{middle(0, i), middle(1, j), middle(2, k)};
        for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
          const double* row = m.data() + 4 * a;
          points.push_back(row[0] * at[0] + row[1] * at[1] + row[2] * at[2] + row[3]);
        }
      }
    }
  }
  return points;
}

}  // namespace

void remark_on_sampling(const std::string& name, const Transform& transform,
                        const transform_files::Geometry& geometry) {
  const Transform field = transform_files::sampled_field(transform, geometry);
  if (field == transform) return;
  Transform exact = transform;
  if (transform.coordinates() != Coordinates::world) {
    exact = transform.in_coordinates(Coordinates::world, *geometry.reference, *geometry.moving);
  }
  const int dimensions = field.dimensions();
  const std::vector<double> points = middles_of(*field.grid(), dimensions);
  std::vector<double> wanted(points.size());
  std::vector<double> kept(points.size());
  exact.points(points, wanted);
  field.points(points, kept);
  double largest = 0;
  double sum = 0;
  const auto d = static_cast<std::size_t>(dimensions);
  for (std::size_t i = 0; i < points.size(); i += d) {
    double square = 0;
    for (std::size_t a = 0; a < d; ++a) {
      square += (wanted[i + a] - kept[i + a]) * (wanted[i + a] - kept[i + a]);
    }
    sum += square;
    largest = std::max(largest, square);
  }
  const double rms = std::sqrt(sum * dimensions / static_cast<double>(points.size()));
  remark(fmt::format(
      "{}: a sampled field; half-way between its samples it is {:.2g} mm rms and at most {:.2g} mm "
      "from the transform",
      name, rms, std::sqrt(largest)));
}

}  // namespace warpalign::program
