// Small volumes in host memory, on which the structure of two volumes is compared.
#include "registration/volume/structure/host_volume.hpp"

#include "registration/deformation/judgement/outline.hpp"
#include "registration/deformation/judgement/window_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace warpalign::detail {

namespace {

constexpr double object_sigma = 1;  // voxels; noise must not break the object up

/// Weights of a Gaussian, which is cut off at three standard deviations.
std::vector<float> gaussian_weights(double sigma) {
  const auto reach = static_cast<std::int64_t>(std::ceil(3 * sigma));
  std::vector<float> weights;
  for (std::int64_t k = -reach; k <= reach; ++k) {
    const double t = sigma > 0 ? static_cast<double>(k) / sigma : 0;
    weights.push_back(static_cast<float>(std::exp(-t * t / 2)));
  }
  return weights;
}

/// Sums along one axis, weighted by a Gaussian.
void smooth_axis(std::vector<float>& values, const Shape& shape, std::size_t axis, double sigma) {
  const std::vector<float> weights = gaussian_weights(sigma);
  const auto reach = static_cast<std::int64_t>(weights.size() / 2);
  const std::array<std::int64_t, 3> sides{shape.width, shape.height, shape.depth};
  std::int64_t stride = 1;
  for (std::size_t a = 0; a < axis; ++a) stride *= sides[a];
  const std::int64_t length = sides[axis];
  std::vector<float> line(static_cast<std::size_t>(length));
  for (std::int64_t outer = 0; outer < shape.pixels(); outer += stride * length) {
    for (std::int64_t inner = 0; inner < stride; ++inner) {
      float* first = values.data() + outer + inner;
      for (std::int64_t k = 0; k < length; ++k)
        line[static_cast<std::size_t>(k)] = first[k * stride];
      for (std::int64_t k = 0; k < length; ++k) {
        float sum = 0;
        const std::int64_t from = std::max(-reach, -k), to = std::min(reach, length - 1 - k);
        for (std::int64_t i = from; i <= to; ++i) {
          sum +=
              weights[static_cast<std::size_t>(i + reach)] * line[static_cast<std::size_t>(k + i)];
        }
        first[k * stride] = sum;
      }
    }
  }
}

/// Gives each voxel the number of its connected component, from 1; returns their sizes.
std::vector<std::size_t> label_components(const std::vector<bool>& mask, bool value,
                                          const Shape& shape, std::vector<std::uint32_t>& labels) {
  labels.assign(mask.size(), 0);
  std::vector<std::size_t> sizes{0};
  std::vector<std::size_t> pending;
  const std::array<std::int64_t, 3> sides{shape.width, shape.height, shape.depth};
  for (std::size_t seed = 0; seed < mask.size(); ++seed) {
    if (mask[seed] != value || labels[seed] != 0) continue;
    const auto label = static_cast<std::uint32_t>(sizes.size());
    sizes.push_back(0);
    labels[seed] = label;
    pending.assign(1, seed);
    while (!pending.empty()) {
      const auto at = static_cast<std::int64_t>(pending.back());
      pending.pop_back();
      ++sizes[label];
      std::int64_t stride = 1;
      for (const std::int64_t side : sides) {
        const std::int64_t along = at / stride % side;
        for (const std::int64_t step : {-1, 1}) {
          if (along + step < 0 || along + step >= side) continue;
          const auto next = static_cast<std::size_t>(at + step * stride);
          if (mask[next] != value || labels[next] != 0) continue;
          labels[next] = label;
          pending.push_back(next);
        }
        stride *= side;
      }
    }
  }
  return sizes;
}

void keep_largest(std::vector<bool>& mask, const Shape& shape) {
  std::vector<std::uint32_t> labels;
  const std::vector<std::size_t> sizes = label_components(mask, true, shape, labels);
  const auto largest = std::max_element(sizes.begin(), sizes.end()) - sizes.begin();
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = mask[i] && labels[i] == largest;
}

// What is outside and does not reach a face of the volume is a hole.
void fill_holes(std::vector<bool>& mask, const Shape& shape) {
  std::vector<std::uint32_t> labels;
  const std::vector<std::size_t> sizes = label_components(mask, false, shape, labels);
  std::vector<bool> reaches_face(sizes.size(), false);
  for (std::size_t i = 0; i < mask.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t x = at % shape.width, y = at / shape.width % shape.height,
                       z = at / (shape.width * shape.height);
    if (x == 0 || y == 0 || z == 0 || x == shape.width - 1 || y == shape.height - 1 ||
        z == shape.depth - 1) {
      reaches_face[labels[i]] = true;
    }
  }
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (!mask[i] && !reaches_face[labels[i]]) mask[i] = true;
  }
}

}  // namespace

float OverviewVolume::at(double x, double y, double z) const {
  const std::array<double, 3> position{x, y, z};
  const auto sides = grid.sides();
  std::array<std::int64_t, 3> first{};
  std::array<float, 3> part{};
  for (std::size_t a = 0; a < 3; ++a) {
    if (!(position[a] >= 0) || !(position[a] <= static_cast<double>(sides[a] - 1))) {
      return std::numeric_limits<float>::quiet_NaN();
    }
    first[a] =
        std::min(static_cast<std::int64_t>(position[a]), std::max<std::int64_t>(sides[a] - 2, 0));
    part[a] = static_cast<float>(position[a] - static_cast<double>(first[a]));
  }
  const std::size_t dx = sides[0] > 1 ? 1 : 0;
  const std::size_t dy = sides[1] > 1 ? static_cast<std::size_t>(sides[0]) : 0;
  const std::size_t dz = sides[2] > 1 ? static_cast<std::size_t>(sides[0] * sides[1]) : 0;
  const float* p = values.data() + index(first[0], first[1], first[2]);
  const auto mix = [](float a, float b, float t) { return a + t * (b - a); };
  const float near = mix(mix(p[0], p[dx], part[0]), mix(p[dy], p[dx + dy], part[0]), part[1]);
  const float far =
      mix(mix(p[dz], p[dx + dz], part[0]), mix(p[dy + dz], p[dx + dy + dz], part[0]), part[1]);
  return mix(near, far, part[2]);
}

OverviewVolume isotropic(const OverviewVolume& volume, double spacing) {
  OverviewVolume smooth = volume;
  OverviewVolume weights{volume.grid, known_voxels(volume.values)};
  for (float& value : smooth.values) value = std::isnan(value) ? 0 : value;
  const Shape& shape = volume.grid.shape;
  OverviewVolume full = weights;  // the weights without missing voxels
  std::fill(full.values.begin(), full.values.end(), 1.0F);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double factor = spacing / volume.grid.spacing[axis];
    if (factor <= 1) continue;
    const double sigma = 0.42 * factor;
    for (OverviewVolume* each : {&smooth, &weights, &full}) {
      smooth_axis(each->values, shape, axis, sigma);
    }
  }
  for (std::size_t i = 0; i < smooth.values.size(); ++i) {
    smooth.values[i] = weights.values[i] >= full.values[i] / 2
                           ? smooth.values[i] / weights.values[i]
                           : std::numeric_limits<float>::quiet_NaN();
  }
  OverviewVolume result;
  std::array<std::int64_t, 3> sides{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    sides[axis] =
        std::max<std::int64_t>(std::llround(volume.grid.extent(axis) / spacing - 1e-9), 1);
  }
  result.grid = {{sides[0], sides[1], sides[2]}, {spacing, spacing, spacing}, volume.grid.centre};
  // Voxels on the faces may lie beyond the outermost centres.
  result.values.reserve(static_cast<std::size_t>(result.grid.shape.pixels()));
  const CentredRows rows = centred_rows({}, result.grid, volume.grid);
  const auto from = volume.grid.sides();
  const auto along = [&](std::int64_t i, std::size_t axis) {
    const double at = rows[4 * axis + axis] * (static_cast<double>(i) - result.grid.middle(axis)) +
                      rows[4 * axis + 3];
    return std::clamp(at, 0.0, static_cast<double>(from[axis] - 1));
  };
  for (std::int64_t z = 0; z < sides[2]; ++z) {
    for (std::int64_t y = 0; y < sides[1]; ++y) {
      for (std::int64_t x = 0; x < sides[0]; ++x) {
        result.values.push_back(smooth.at(along(x, 0), along(y, 1), along(z, 2)));
      }
    }
  }
  return result;
}

std::vector<float> resampled(const OverviewVolume& moving, const VolumeGrid& reference,
                             const SpatialTransform& transform) {
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(reference.shape.pixels()));
  for_each_mapped_voxel(voxel_rows(transform, reference, moving.grid), reference.shape,
                        [&](const Vector3& p) { values.push_back(moving.at(p[0], p[1], p[2])); });
  return values;
}

std::vector<float> known_voxels(const std::vector<float>& values) {
  std::vector<float> known(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) known[i] = std::isnan(values[i]) ? 0.0F : 1.0F;
  return known;
}

std::vector<bool> foreground(const std::vector<float>& values, const Shape& shape) {
  const std::vector<float> known = known_voxels(values);
  double sum = 0, count = 0;
  float least = std::numeric_limits<float>::max();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (known[i] == 0) continue;
    least = std::min(least, values[i]);
    count += 1;
  }
  std::vector<float> filled = values;
  for (float& value : filled) value = std::isnan(value) ? least : value;
  const std::vector<float> smooth = gaussian_smoothed(filled, shape, object_sigma);
  const float otsu = otsu_threshold(smooth, known);
  count = 0;
  for (std::size_t i = 0; i < smooth.size(); ++i) {
    if (known[i] == 0 || smooth[i] > otsu) continue;
    sum += static_cast<double>(smooth[i]);
    count += 1;
  }
  const double background = count > 0 ? sum / count : static_cast<double>(least);
  const auto threshold = static_cast<float>((static_cast<double>(otsu) + background) / 2);
  std::vector<bool> mask(values.size());
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = known[i] != 0 && smooth[i] > threshold;
  keep_largest(mask, shape);
  fill_holes(mask, shape);
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = mask[i] && known[i] != 0;
  return mask;
}

Vector3 centroid(const std::vector<bool>& mask, const VolumeGrid& grid) {
  Vector3 sum{};
  double count = 0;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (!mask[i]) continue;
    const auto at = static_cast<std::int64_t>(i);
    const std::array<std::int64_t, 3> voxel{at % grid.shape.width,
                                            at / grid.shape.width % grid.shape.height,
                                            at / (grid.shape.width * grid.shape.height)};
    for (std::size_t a = 0; a < 3; ++a) sum[a] += static_cast<double>(voxel[a]);
    count += 1;
  }
  Vector3 position = grid.centre;
  for (std::size_t a = 0; a < 3 && count > 0; ++a) {
    position[a] += (sum[a] / count - grid.middle(a)) * grid.spacing[a];
  }
  return position;
}

}  // namespace warpalign::detail
