// Registers small patches of overlaps in one batch.
#include "mosaic/patch_registration.hpp"

#include "mosaic/pair_registration.hpp"

#include <cmath>
#include <memory>

namespace warpalign::detail {

std::vector<std::optional<Point>> register_patches(std::span<const Device> devices,
                                                   TileCache& cache,
                                                   std::span<const PatchPair> patches,
                                                   const BatchOptions& options) {
  // Patches hold few pixels, and wrong results are left out by the fit that uses them.
  constexpr double min_confidence = 0.3;
  RegistrationOptions registration;
  registration.motion = Motion::translation;
  std::vector<std::optional<Point>> found(patches.size());
  align_batch(
      devices, patches.size(),
      [&](std::size_t i) {
        const auto tiles = std::make_shared<TwoTiles>();
        tiles->reference = cache.get(patches[i].reference);
        tiles->moving = cache.get(patches[i].moving);
        return HostPair{window_of(tiles->reference.image, patches[i].in_reference),
                        window_of(tiles->moving.image, patches[i].in_moving),
                        {},
                        {},
                        tiles};
      },
      [&](std::size_t i, const BatchResult& result) {
        if (result.error || result.result->ambiguous) return true;
        const Point moved{result.result->matrix.c, result.result->matrix.f};
        if (!(result.result->confidence >= min_confidence)) return true;
        if (std::isfinite(moved.x + moved.y)) found[i] = moved;
        return true;
      },
      registration, options);
  return found;
}

}  // namespace warpalign::detail
