// The voxels of a volume of a series that are NaN or infinite.
#include "registration/volume/series/missing_voxels.hpp"

#include <warpalign/error.hpp>
#include <warpalign/missing.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace warpalign::detail {
namespace {

using Marks = std::vector<std::uint8_t>;

/// Marks the voxels from which a marked one is at most `reach` away along each axis.
Marks dilated(Marks marks, const Shape& shape, std::int64_t reach) {
  const std::array<std::int64_t, 3> sides{shape.width, shape.height, shape.depth};
  const std::array<std::int64_t, 3> strides{1, shape.width, shape.width * shape.height};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    Marks wide = marks;
    for (std::size_t i = 0; i < marks.size(); ++i) {
      if (marks[i] == 0) continue;
      const std::int64_t at = static_cast<std::int64_t>(i) / strides[axis] % sides[axis];
      for (std::int64_t step = -reach; step <= reach; ++step) {
        if (at + step < 0 || at + step >= sides[axis]) continue;
        wide[static_cast<std::size_t>(static_cast<std::int64_t>(i) + step * strides[axis])] = 1;
      }
    }
    marks = std::move(wide);
  }
  return marks;
}

Marks inverted(Marks marks) {
  for (std::uint8_t& mark : marks) mark = mark == 0 ? 1 : 0;
  return marks;
}

/// Calls `use(i, x, y, z)` for each voxel i with its place by `transform`.
template <class Use>
void for_each_place(const Shape& shape, const HomogeneousMatrix& transform, const Use& use) {
  const auto& m = transform.m;
  std::size_t i = 0;
  for (std::int64_t z = 0; z < shape.depth; ++z) {
    for (std::int64_t y = 0; y < shape.height; ++y) {
      for (std::int64_t x = 0; x < shape.width; ++x, ++i) {
        const auto px = static_cast<double>(x);
        const auto py = static_cast<double>(y);
        const auto pz = static_cast<double>(z);
        use(i, m[0] * px + m[1] * py + m[2] * pz + m[3], m[4] * px + m[5] * py + m[6] * pz + m[7],
            m[8] * px + m[9] * py + m[10] * pz + m[11]);
      }
    }
  }
}

/// The voxel nearest to a place; the nearest one of the volume for a place outside.
std::size_t nearest(const Shape& shape, double x, double y, double z) {
  const auto clamped = [](double at, std::int64_t side) {
    return static_cast<std::int64_t>(
        std::clamp(std::round(at), 0.0, static_cast<double>(side - 1)));
  };
  return static_cast<std::size_t>(
      (clamped(z, shape.depth) * shape.height + clamped(y, shape.height)) * shape.width +
      clamped(x, shape.width));
}

void set_nan(PixelType type, std::byte* voxel) {
  store_value(type, std::numeric_limits<double>::quiet_NaN(), voxel);
}

std::int64_t mirrored_index(std::int64_t i, std::int64_t n) {
  if (i < 0) i = -i;
  if (i >= n) i = 2 * n - 2 - i;
  return std::clamp<std::int64_t>(i, 0, n - 1);
}

/// The weights of the cubic B-spline for the four samples around a position.
std::array<double, 4> cubic_weights(double fraction) {
  const double t = fraction;
  const double s = 1 - t;
  return {s * s * s / 6, 2.0 / 3 - t * t * (2 - t) / 2, 2.0 / 3 - s * s * (2 - s) / 2,
          t * t * t / 6};
}

template <class Sample>
std::vector<std::byte> filled_samples(const HostVolume& volume, const Marks& known) {
  std::vector<std::byte> bytes(known.size() * sizeof(Sample));
  std::memcpy(bytes.data(), volume.data, bytes.size());
  fill_missing(std::span(reinterpret_cast<Sample*>(bytes.data()), known.size()), known,
               volume.shape);
  return bytes;
}

/// Half precision: the nearest known sample along the rows, as the type has no arithmetic here.
std::vector<std::byte> continued_samples(const HostVolume& volume, const Marks& known) {
  std::vector<std::byte> bytes(known.size() * size_of(volume.type));
  std::memcpy(bytes.data(), volume.data, bytes.size());
  const std::size_t size = size_of(volume.type);
  const auto first = static_cast<std::size_t>(
      std::find(known.begin(), known.end(), std::uint8_t{1}) - known.begin());
  std::size_t last = first;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i] != 0) {
      last = i;
    } else {
      std::memcpy(bytes.data() + i * size, bytes.data() + last * size, size);
    }
  }
  return bytes;
}

}  // namespace

MissingVoxels::MissingVoxels(const Shape& shape, Marks known, std::int64_t count)
    : shape_(shape),
      known_(std::move(known)),
      near_known_(inverted(dilated(inverted(known_), shape, 1))),
      near_any_(dilated(inverted(known_), shape, 2)),
      count_(count) {}

std::optional<MissingVoxels> MissingVoxels::of(const HostVolume& volume) {
  const bool can_miss = volume.type == PixelType::f16 || volume.type == PixelType::f32 ||
                        volume.type == PixelType::f64;
  if (!can_miss) return std::nullopt;
  KnownSamples samples = known_samples(volume);
  if (samples.missing == 0) return std::nullopt;
  if (samples.missing == volume.shape.pixels()) {
    throw Error(ErrorKind::invalid_image, "the volume has no finite voxel");
  }
  MissingVoxels found(volume.shape, std::move(samples.known), samples.missing);
  if (volume.type == PixelType::f32) {
    found.filled_ = filled_samples<float>(volume, found.known_);
  } else if (volume.type == PixelType::f64) {
    found.filled_ = filled_samples<double>(volume, found.known_);
  } else {
    found.filled_ = continued_samples(volume, found.known_);
  }
  return found;
}

void MissingVoxels::exclude_unknown(std::span<float> weights) const {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (near_any_[i] != 0) weights[i] = 0;
  }
}

void MissingVoxels::exclude_unknown(const HomogeneousMatrix& transform,
                                    std::span<float> weights) const {
  for_each_place(shape_, transform, [&](std::size_t i, double x, double y, double z) {
    if (near_known_[nearest(shape_, x, y, z)] == 0) weights[i] = 0;
  });
}

double MissingVoxels::known_share(double x, double y, double z) const {
  const std::array<double, 3> at{x, y, z};
  const std::array<std::int64_t, 3> sides{shape_.width, shape_.height, shape_.depth};
  std::array<std::array<double, 4>, 3> weights{};
  std::array<std::array<std::int64_t, 4>, 3> index{};
  for (std::size_t a = 0; a < 3; ++a) {
    const double floor = std::floor(at[a]);
    weights[a] = cubic_weights(at[a] - floor);
    for (std::size_t k = 0; k < 4; ++k) {
      index[a][k] = mirrored_index(
          static_cast<std::int64_t>(floor) + static_cast<std::int64_t>(k) - 1, sides[a]);
    }
  }
  double share = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    for (std::size_t j = 0; j < 4; ++j) {
      const std::int64_t row = (index[2][k] * sides[1] + index[1][j]) * sides[0];
      for (std::size_t i = 0; i < 4; ++i) {
        if (known_[static_cast<std::size_t>(row + index[0][i])] == 0) continue;
        share += weights[0][i] * weights[1][j] * weights[2][k];
      }
    }
  }
  return share;
}

bool MissingVoxels::is_missing_at(double x, double y, double z) const {
  // Farther from missing voxels the share is 1; what lies outside the volume is 0 later.
  return near_any_[nearest(shape_, x, y, z)] != 0 && known_share(x, y, z) < min_known_share;
}

void MissingVoxels::set_missing(const HomogeneousMatrix& transform, PixelType type,
                                void* warped) const {
  auto* bytes = static_cast<std::byte*>(warped);
  const std::size_t size = size_of(type);
  for_each_place(shape_, transform, [&](std::size_t i, double x, double y, double z) {
    if (is_missing_at(x, y, z)) set_nan(type, bytes + i * size);
  });
}

void MissingVoxels::set_missing(const VoxelPlaces& places, PixelType type, void* warped) const {
  auto* bytes = static_cast<std::byte*>(warped);
  const std::size_t size = size_of(type);
  for (std::size_t i = 0; i < known_.size(); ++i) {
    const auto x = static_cast<double>(places.x()[i]);
    const auto y = static_cast<double>(places.y()[i]);
    const auto z = static_cast<double>(places.z()[i]);
    if (std::isfinite(x + y + z) && is_missing_at(x, y, z)) set_nan(type, bytes + i * size);
  }
}

}  // namespace warpalign::detail
