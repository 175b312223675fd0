// Refuses a match of two volumes of one contrast of which only the outlines agree.
#include "registration/volume/search/structure_check.hpp"

#include "registration/deformation/judgement/structure_correlation.hpp"

#include <warpalign/missing.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace warpalign::detail {

namespace {

// Noise within equal ellipsoids reached 0.18; the same volume under noise 0.28 and more where its
// texture was at least half as strong as the noise, and the brains of different people 0.86.
constexpr double half_within = 0.23;
// The correlation that changes the odds by a factor of e.
constexpr double unit_within = 0.02;
// The share of the structure within outlines below which the outlines are all that there is.
constexpr double least_share_within = 0.01;
// In voxels: nearer ones still show the outline, which averaging and interpolation have blurred.
constexpr float away_from_outline = 3;

/// A voxel between others of a volume, by linear interpolation: NaN if one of them is. Beyond the
/// edges, the outermost values continue.
class LinearSampler {
 public:
  explicit LinearSampler(const LevelValues& level) : level_(level) {}

  [[nodiscard]] bool contains(const Vector3& p) const {
    const auto within = [](double x, std::int64_t side) {
      return x >= 0 && x <= static_cast<double>(side - 1);
    };
    const Shape& s = level_.shape;
    return within(p[0], s.width) && within(p[1], s.height) && within(p[2], s.depth);
  }
  [[nodiscard]] float operator()(const Vector3& p) const {
    const std::array<std::int64_t, 3> sides{level_.shape.width, level_.shape.height,
                                            level_.shape.depth};
    std::array<std::int64_t, 3> low{};
    std::array<double, 3> part{};
    for (std::size_t a = 0; a < 3; ++a) {
      const double last = static_cast<double>(sides[a] - 1);
      const double x = std::clamp(p[a], 0.0, last);
      low[a] = std::min(static_cast<std::int64_t>(x), std::max<std::int64_t>(sides[a] - 2, 0));
      part[a] = x - static_cast<double>(low[a]);
    }
    double sum = 0;
    for (std::size_t corner = 0; corner < 8; ++corner) {
      double weight = 1;
      std::array<std::int64_t, 3> at = low;
      for (std::size_t a = 0; a < 3; ++a) {
        const bool high = (corner >> a & 1U) != 0;
        weight *= high ? part[a] : 1 - part[a];
        if (high) ++at[a];
      }
      if (weight == 0) continue;
      const std::int64_t i = (at[2] * sides[1] + at[1]) * sides[0] + at[0];
      sum += weight * static_cast<double>(level_.values[static_cast<std::size_t>(i)]);
    }
    return static_cast<float>(sum);
  }

 private:
  const LevelValues& level_;
};

/// Fills values that are not finite from their surroundings, and clears their marks.
void complete(std::vector<float>& values, const Shape& shape, std::vector<float>& known) {
  std::vector<std::uint8_t> marks(values.size());
  bool all = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    marks[i] = std::isfinite(values[i]) ? 1 : 0;
    if (marks[i] != 0) continue;
    known[i] = 0;
    all = false;
  }
  if (!all) fill_missing(std::span(values), marks, shape);
}

}  // namespace

double confidence_within_outlines(const LevelValues& reference, const LevelValues& moving,
                                  const std::array<double, 12>& rows) {
  const Shape& shape = reference.shape;
  const LinearSampler sampler(moving);
  std::vector<float> warped;
  std::vector<float> valid;
  warped.reserve(reference.values.size());
  valid.reserve(reference.values.size());
  for_each_mapped_voxel(rows, shape, [&](const Vector3& p) {
    warped.push_back(sampler(p));
    valid.push_back(sampler.contains(p) ? 1.0F : 0.0F);
  });
  std::vector<float> known(reference.values.size(), 1.0F);
  std::vector<float> fixed = reference.values;
  complete(fixed, shape, known);
  complete(warped, shape, known);
  const StructureCorrelation found =
      structure_correlation(fixed, warped, known, valid, shape, away_from_outline);
  if (found.inner_share < least_share_within) return 1;
  return 1 / (1 + std::exp((half_within - found.inner) / unit_within));
}

}  // namespace warpalign::detail
