// From registered pairs to a mosaic of rotated tiles.
#include "mosaic/rotated_mosaic.hpp"

#include "mosaic/located_tiles.hpp"
#include "mosaic/rotated_overlap.hpp"
#include "mosaic/tile_corners.hpp"

#include <algorithm>
#include <limits>

namespace warpalign::detail {
namespace {

RotatedLink rotated_link(std::span<const MosaicTile> tiles, const MeasuredPair& measured) {
  const MosaicPair& pair = measured.pair;
  RotatedLink link{pair.reference,  pair.moving, pair.shift, pair.confidence, {}, {},
                   measured.corners};
  link.in_moving =
      rotated_overlap(pair.matrix, tiles[pair.reference].shape, tiles[pair.moving].shape).corners;
  for (std::size_t k = 0; k < overlap_corners; ++k) {
    link.in_reference[k] = pair.matrix(link.in_moving[k]);
  }
  return link;
}

Point middle_of(std::span<const MosaicTile> tiles, const Homography& matrix,
                const MosaicPair& pair) {
  return rotated_overlap(matrix, tiles[pair.reference].shape, tiles[pair.moving].shape).middle;
}

}  // namespace

RotatedPlacement place_rotated_pairs(std::span<const MosaicTile> tiles,
                                     std::vector<MeasuredPair>& pairs, double max_error,
                                     const MosaicOptions& options) {
  const auto accepted = accepted_pairs(pairs);
  std::vector<RotatedLink> links;
  links.reserve(accepted.size());
  for (const MeasuredPair* measured : accepted) links.push_back(rotated_link(tiles, *measured));
  RotatedPlacement placement =
      place_rotated_tiles(tiles, links, options.motion, max_error, options.positions_known);
  mark_contradicted(accepted, placement.used, options.positions_known, "the transform");
  return placement;
}

Point located_shift(std::span<const MosaicTile> tiles, const std::vector<Homography>& matrices,
                    const MosaicPair& pair) {
  const Homography between = matrices[pair.reference].inverse() * matrices[pair.moving];
  const Point middle = middle_of(tiles, between, pair);
  return difference(between(middle), middle);
}

Point located_residual(std::span<const MosaicTile> tiles, const std::vector<Homography>& matrices,
                       const MosaicPair& pair) {
  const Point middle = middle_of(tiles, pair.matrix, pair);
  return difference(matrices[pair.reference](pair.matrix(middle)), matrices[pair.moving](middle));
}

void set_matrices(std::span<const MosaicTile> tiles, const std::vector<Homography>& matrices,
                  Mosaic& mosaic) {
  constexpr double far = std::numeric_limits<double>::infinity();
  Bounds all{{far, far}, {-far, -far}};
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const auto& [least, largest] = bounds_of(matrices[i], tiles[i].shape);
    all.least = {std::min(all.least.x, least.x), std::min(all.least.y, least.y)};
    all.largest = {std::max(all.largest.x, largest.x), std::max(all.largest.y, largest.y)};
  }
  const Homography to_origin = Affine{1, 0, -all.least.x, 0, 1, -all.least.y};
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    mosaic.tiles[i].matrix = scaled(to_origin * matrices[i]);
    mosaic.tiles[i].position = mosaic.tiles[i].matrix({0, 0});
  }
  mosaic.shape = {pixel_before(all.largest.x - all.least.x) + 1,
                  pixel_before(all.largest.y - all.least.y) + 1, 1};
}

}  // namespace warpalign::detail
