// Which pixels of the levels of a deformable registration count if some pixels are ignored.
#include "registration/deformation/known_levels.hpp"

#include "registration/deformation/judgement/window_sums.hpp"
#include "registration/deformation/sides.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace warpalign::detail {

std::vector<float> halved_known(std::span<const float> known, const Shape& fine,
                                const Shape& coarse) {
  const Sides from = sides_of(fine);
  const Sides to = sides_of(coarse);
  Sides factor{};
  for (std::size_t a = 0; a < 3; ++a) factor[a] = to[a] < from[a] ? 2 : 1;
  std::vector<float> result;
  result.reserve(static_cast<std::size_t>(coarse.pixels()));
  for (std::int64_t z = 0; z < to[2]; ++z) {
    for (std::int64_t y = 0; y < to[1]; ++y) {
      for (std::int64_t x = 0; x < to[0]; ++x) {
        float least = 1;
        for (std::int64_t k = 0; k < factor[0] * factor[1] * factor[2]; ++k) {
          const std::int64_t i = x * factor[0] + k % factor[0];
          const std::int64_t j = y * factor[1] + k / factor[0] % factor[1];
          const std::int64_t l = z * factor[2] + k / (factor[0] * factor[1]);
          const std::int64_t at = (l * from[1] + j) * from[0] + i;
          least = std::min(least, known[static_cast<std::size_t>(at)]);
        }
        result.push_back(least);
      }
    }
  }
  return result;
}

std::vector<float> eroded_known(std::span<const float> known, const Shape& shape, int reach) {
  std::vector<float> result(known.begin(), known.end());
  combine_neighbours(result, shape, reach, 1, Beyond::neutral,
                     [](std::int64_t /*offset*/, const float* from, float* to, std::int64_t count) {
                       for (std::int64_t k = 0; k < count; ++k) to[k] = std::min(to[k], from[k]);
                     });
  return result;
}

}  // namespace warpalign::detail
