// Mosaics whose tiles are volumes: the positions of the tiles, from the registration of their
// overlaps, and the volume that they make.
#pragma once

#include <warpalign/geometry.hpp>
#include <warpalign/homogeneous_matrix.hpp>
#include <warpalign/mosaic.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace warpalign {

/// A volume tile of a mosaic, as the stage of the microscope placed it. The order of the tiles is
/// the order in which they were taken, from which the backlash of the stage is estimated.
struct VolumeMosaicTile {
  Shape shape;      ///< each side 8 to 16384 voxels
  Point3 position;  ///< where the stage says that the tile's first voxel lies, in voxels
};

/// The voxels of a tile. A tile whose volume has no voxels (null `data`) is absent, for example
/// because its file is damaged: its pairs fail, and the fused volume leaves it out.
struct TileVoxels {
  HostVolume volume;  ///< of the tile's shape; any type but c32
  /// An owner of the voxels, kept while they are in use; null when the caller keeps them alive.
  std::shared_ptr<const void> owner{};
};

/// Returns the tile with the given number. Several threads call it concurrently.
using VolumeTileSource = std::function<TileVoxels(std::size_t tile)>;

/// Options of locate_volume_tiles().
struct VolumeMosaicOptions {
  /// The largest error of the position of a tile relative to its neighbour, in voxels along each
  /// axis. 0: a twentieth of the tile's longest side, at least 16.
  double max_error = 0;
  /// The smallest confidence of a pair that is used, above 0 to 1.
  double min_confidence = 0.5;
  /// Host memory for tiles that several pairs need, in bytes.
  std::size_t cache_bytes = std::size_t{1} << 30;
  BatchOptions batch{};       ///< how the pairs are divided among threads
  MosaicProgress progress{};  ///< may be empty
};

/// Two volume tiles that overlap, and the result of their registration.
struct VolumeMosaicPair {
  std::size_t reference = 0;  ///< the number of a tile
  std::size_t moving = 0;     ///< the number of the other tile, which is larger
  /// Whether the pair is used, and why not. `ambiguous`: the volumes match nearly as well at another
  /// shift within VolumeMosaicOptions::max_error.
  PairOutcome outcome = PairOutcome::unreliable;
  /// The moving tile's position minus the reference tile's, in voxels. Without a registration, the
  /// shift that was expected.
  Point3 shift;
  /// Standard deviations of the shift along each axis, in voxels, from the residuals of the
  /// overlap.
  Point3 uncertainty;
  double confidence = 0;   ///< of the registration, 0 to 1
  double correlation = 0;  ///< of the registration
  Point3 residual;         ///< `shift` minus the difference of the located positions, in voxels
  std::string reason;      ///< why the pair is left out, in one line; empty if it is used
};

/// A volume tile with its position in the mosaic.
struct LocatedVolumeTile {
  /// Where the tile's first voxel lies in the mosaic, in voxels; the smallest x, y and z of all
  /// tiles are 0.
  Point3 position;
  std::size_t component = 0;  ///< index of the set of tiles that used pairs connect
  std::size_t pairs = 0;      ///< the number of used pairs. If it is 0, the stage model placed it
};

/// How the positions of the stage relate to those in the mosaic, without the offset, as StageModel.
struct VolumeStageModel {
  HomogeneousMatrix matrix;  ///< from the stage's positions to the mosaic's; affine
  Point3 backlash;           ///< as StageModel::backlash, in voxels
  /// Standard deviation of the tiles' positions from the model along an axis, in voxels.
  double deviation = 0;
};

/// The result of locate_volume_tiles().
struct VolumeMosaic {
  std::vector<LocatedVolumeTile> tiles;  ///< in the order of the given tiles
  std::vector<VolumeMosaicPair> pairs;   ///< all pairs that overlap, by the tile numbers
  std::size_t components = 0;            ///< the number of sets of tiles; 1: pairs connect all
  VolumeStageModel stage;                ///< the model that places tiles and sets without pairs
  Shape shape;                           ///< of the volume that covers all tiles
};

/// Locates the volume tiles of a mosaic as locate_tiles() locates images: the overlaps of all pairs
/// of tiles that share more than an edge according to the stage are registered as translations
/// (VolumeRegistrar), and robust least squares give the positions and a model of the stage, which
/// places tiles without texture. A refused pair is registered once more, in a narrower window where
/// the located tiles say that it overlaps. Positions must be known, and tiles have no distortion.
///
/// Throws Error(invalid_argument) for tiles at the same position, for fewer than 2 tiles, if no
/// tiles overlap, and for options out of range. Throws what `source` and `progress` throw, and
/// device errors as align_batch() does.
[[nodiscard]] WARPALIGN_API VolumeMosaic
locate_volume_tiles(std::span<const Device> devices, std::span<const VolumeMosaicTile> tiles,
                    const VolumeTileSource& source, const VolumeMosaicOptions& options = {});

/// Receives planes of the fused volume from `first_plane` on, which are valid during the call. What
/// it throws ends the work.
using PlaneSink = std::function<void(std::int64_t first_plane, const HostVolume& planes)>;

/// What fuse_volume_tiles() makes.
struct VolumeFusionSpec {
  Shape volume;                    ///< of the fused volume, for example VolumeMosaic::shape
  PixelType type = PixelType::u8;  ///< of the tiles and of the volume: u8, u16 or f32
  std::int64_t planes = 16;        ///< the number of planes that the sink receives at a time
  /// The value of missing voxels in tiles and in the volume; must be one that `type` can hold.
  std::optional<double> nodata{};
};

/// Fuses volume tiles into one volume, by slabs of planes from the first on. `positions` are those
/// of the tiles' first voxels (LocatedVolumeTile::position). Each tile is resampled once, by its
/// cubic spline, to the volume's grid; where tiles overlap, the weight of a tile is the product of
/// the distances to its nearest faces along x, y and z. Missing voxels, and those for which no tile
/// has a value, are as for fuse_tiles(). Memory holds the tiles of about two layers of the mosaic,
/// and one slab. One thread at a time calls `source`.
///
/// Throws Error(invalid_argument) for a wrong spec, a position that is not finite, or voxels of
/// another shape or type. Throws what `source` and `sink` throw, and device errors.
WARPALIGN_API void fuse_volume_tiles(const Device& device, std::span<const VolumeMosaicTile> tiles,
                                     std::span<const Point3> positions,
                                     const VolumeTileSource& source, const VolumeFusionSpec& spec,
                                     const PlaneSink& sink);

}  // namespace warpalign
