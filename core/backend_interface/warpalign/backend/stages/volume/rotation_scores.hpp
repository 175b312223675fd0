// Stage: correlation of points with a volume under many rotations.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <span>

namespace warpalign {

namespace backend {
class RotationScores;
}
namespace detail {
template <class Record>
class Results;
}

struct RotationScoresSpec {
  int radius = 1;                  ///< of the ball about the origin that contains all points
  std::int64_t max_points = 1;     ///< largest number of points per execution
  std::int64_t max_rotations = 1;  ///< largest number of rotations per execution

  /// The side of the volume, a cube whose middle voxel is the origin.
  [[nodiscard]] std::int64_t side() const noexcept { return 2 * std::int64_t{radius} + 3; }
};

/// A point relative to the origin, and its value.
struct ScoredPoint {
  float x = 0, y = 0, z = 0;
  float value = 0;
};

/// A rotation matrix for (x, y, z), row-major.
using RotationMatrix = std::array<float, 9>;

/// Computes, for each rotation, the sum over all points of the point's value times the volume at
/// the rotated point, interpolated linearly. The search applies it to magnitudes of spectra, which
/// do not depend on translation.
class WARPALIGN_API RotationScoresPlan {
 public:
  RotationScoresPlan(const Device& device, const RotationScoresSpec& spec);
  /// `volume`: f32. Points must lie within the radius, and matrices must be rotations within 0.001.
  /// Waits for the result, which is valid until the next execution.
  [[nodiscard]] std::span<const float> execute(Stream& stream, const Image& volume,
                                               std::span<const ScoredPoint> points,
                                               std::span<const RotationMatrix> rotations) const&;
  std::span<const float> execute(Stream& stream, const Image& volume,
                                 std::span<const ScoredPoint> points,
                                 std::span<const RotationMatrix> rotations) const&& = delete;

 private:
  Device device_;
  RotationScoresSpec spec_;
  std::shared_ptr<backend::RotationScores> kernel_;
  std::shared_ptr<Buffer> points_, rotations_;
  std::shared_ptr<detail::Results<float>> scores_;
};

}  // namespace warpalign

namespace warpalign::backend {

struct RotationScoresMemory {
  const Memory& volume;
  const Memory& points;
  const Memory& rotations;
};

class RotationScores : public Stage {
 public:
  using Setup = RotationScoresSpec;

  virtual void enqueue(Queue& queue, const RotationScoresMemory& memory, std::int64_t points,
                       std::int64_t rotations, Memory& scores) = 0;
};

}  // namespace warpalign::backend
