// Mosaics: the positions of overlapping tiles, from the registration of their overlaps, and the
// picture that the tiles make.
#pragma once

#include <warpalign/batch.hpp>
#include <warpalign/device.hpp>
#include <warpalign/error.hpp>
#include <warpalign/geometry.hpp>
#include <warpalign/registrar.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace warpalign {

/// A tile of a mosaic, as the stage of the microscope placed it. The order of the tiles is the
/// order in which they were taken, from which the backlash of the stage is estimated.
struct MosaicTile {
  Shape shape;  ///< depth 1, each side 16 to 16384 pixels
  /// Where the stage says that the tile's first pixel lies, in pixels. Ignored unless
  /// MosaicOptions::positions_known.
  Point position;
};

/// The pixels of a tile, or of one of its channels. A tile whose image has no pixels (null `data`)
/// is absent, for example because its file is damaged: its pairs fail, and pictures leave it out.
struct TilePixels {
  HostImage image;  ///< of the tile's shape; any type but c32
  /// An owner of the pixels, kept while they are in use; null when the caller keeps them alive.
  std::shared_ptr<const void> owner{};
};

/// Returns the gray image of the tile with the given number. Several threads call it concurrently.
using TileSource = std::function<TilePixels(std::size_t tile)>;

/// Receives progress: how many of how many pairs are registered. One thread at a time calls it.
/// What it throws ends the work.
using MosaicProgress = std::function<void(std::size_t done, std::size_t total)>;

/// What became of a pair of tiles.
enum class PairOutcome {
  used,          ///< determines positions
  failed,        ///< could not be registered, for example because a tile has no texture there
  unreliable,    ///< the confidence is below MosaicOptions::min_confidence
  ambiguous,     ///< the texture repeats itself, or leaves a direction undetermined
  beyond_error,  ///< the shift differs from the stage's by more than MosaicOptions::max_error
  contradicted   ///< the other pairs and the stage contradict the shift
};

/// The distortion that all tiles have in common, for example that of a lens or a scanner: pixel p
/// of a tile lies at position + p + displacement(p) in the mosaic. A cubic polynomial without
/// constant and linear terms, which no overlap tells from other positions of the tiles.
struct TileDistortion {
  static constexpr std::size_t terms = 7;

  /// Displacements along x in pixels of the terms u^2, uv, v^2, u^3, u^2 v, u v^2 and v^3, where
  /// (u, v) is the pixel relative to `center`, divided by `radius`.
  std::array<double, terms> x{};
  std::array<double, terms> y{};  ///< the same along y
  Point center;                   ///< the pixel that is not displaced
  double radius = 1;              ///< in pixels

  /// Whether there is no distortion.
  [[nodiscard]] bool is_zero() const noexcept {
    for (std::size_t i = 0; i < terms; ++i) {
      if (x[i] != 0 || y[i] != 0) return false;
    }
    return true;
  }
  /// The values of the terms at a pixel, one for each term.
  [[nodiscard]] std::array<double, terms> monomials(const Point& pixel) const noexcept {
    const double u = (pixel.x - center.x) / radius;
    const double v = (pixel.y - center.y) / radius;
    return {u * u, u * v, v * v, u * u * u, u * u * v, u * v * v, v * v * v};
  }
  /// The displacement of a pixel, in pixels.
  [[nodiscard]] Point displacement(const Point& pixel) const noexcept {
    const std::array<double, terms> values = monomials(pixel);
    Point sum;
    for (std::size_t i = 0; i < terms; ++i) {
      sum.x += x[i] * values[i];
      sum.y += y[i] * values[i];
    }
    return sum;
  }
};

/// The registration of a pair of tiles, for MosaicOptions::records.
struct PairRecord {
  /// locate_tiles() registers pairs in batches, for example again without a distortion: the number
  /// of the batch.
  std::size_t batch = 0;
  std::size_t index = 0;                          ///< of the pair in its batch
  std::size_t reference = 0;                      ///< the number of a tile
  std::size_t moving = 0;                         ///< the number of the other tile
  Point expected;                                 ///< the shift that was expected, in pixels
  PairOutcome outcome = PairOutcome::unreliable;  ///< any but `contradicted`
  Point shift;                                    ///< as MosaicPair::shift
  std::array<double, 3> covariance{};  ///< of the shift: xx, xy and yy; 0 unless the pair is used
  double confidence = 0;               ///< of the registration
  double correlation = 0;              ///< of the registration
  std::string reason;                  ///< why the pair is left out
  /// As MosaicPair::matrix. Together with `corners`, only of MosaicOptions::motion other than
  /// Motion::translation.
  Homography matrix{};
  /// The covariances of the places of the overlap's corners: xx, xy and yy.
  std::array<std::array<double, 3>, 4> corners{};
};

/// What a call of locate_tiles() has measured so far.
struct MosaicRecords {
  std::vector<PairRecord> pairs;             ///< in any order
  std::optional<TileDistortion> distortion;  ///< if it was estimated; zero: there is none
};

/// Options of locate_tiles().
struct MosaicOptions {
  /// Whether the tiles' positions are known. If not, locate_tiles() searches for the pairs that
  /// overlap. That takes much longer, and finds neighbours faster if the order of the tiles is the
  /// order in which they were taken.
  bool positions_known = true;
  /// The largest error of the position of a tile relative to its neighbour, in pixels along x and
  /// y. 0: a twentieth of the tile's larger side, at least 16.
  double max_error = 0;
  /// The smallest confidence of a pair that is used, above 0 to 1.
  double min_confidence = 0.5;
  /// Host memory for tiles that several pairs need, in bytes.
  std::size_t cache_bytes = std::size_t{1} << 30;
  /// Whether to estimate the distortion that all tiles have in common, and to register tiles
  /// without it. It needs tiles of one shape, and is left out where the overlaps do not show a
  /// distortion. Tiles whose motion is not Motion::translation are taken to have none.
  bool estimate_distortion = true;
  /// How tiles differ from their positions: translation, or for tiles that each are rotated in
  /// their own way rigid, similarity or homography. A pair's rotation may be 15 degrees at most,
  /// its scale 0.8 to 1.25. On average, tiles are not rotated.
  Motion motion = Motion::translation;
  BatchOptions batch{};       ///< how the pairs are divided among threads
  MosaicProgress progress{};  ///< may be empty
  /// What an interrupted call with the same tiles, source and options had measured: it is not
  /// measured again.
  MosaicRecords records{};
  /// Receives the record of each pair that was registered, unless the device failed. One thread at
  /// a time calls it. What it throws ends the work. May be empty.
  std::function<void(const PairRecord& record)> keep_pair{};
  /// The same for the distortion.
  std::function<void(const TileDistortion& distortion)> keep_distortion{};
};

/// The name of an outcome: "used", "failed", "unreliable", "ambiguous", "beyond error" or
/// "contradicted". Never throws Error.
[[nodiscard]] WARPALIGN_API const char* name_of(PairOutcome outcome) noexcept;

/// Two tiles that overlap, and the result of their registration.
struct MosaicPair {
  std::size_t reference = 0;                      ///< the number of a tile
  std::size_t moving = 0;                         ///< the number of the other tile, which is larger
  PairOutcome outcome = PairOutcome::unreliable;  ///< whether the pair is used, and why not
  /// The moving tile's position minus the reference tile's, in pixels; with other motions than
  /// translations, the place of the overlap's middle in the reference tile minus that in the moving
  /// tile. Without a registration, the shift that was expected.
  Point shift;
  /// From pixels of the moving tile to those of the reference tile.
  Homography matrix;
  /// Standard deviations of the shift along x and y, in pixels, from the residuals of the overlap.
  Point uncertainty;
  double confidence = 0;   ///< of the registration, 0 to 1
  double correlation = 0;  ///< of the registration
  /// `shift` minus the difference of the located positions, in pixels; with other motions than
  /// translations, by how much the tiles' matrices contradict it in the overlap's middle.
  Point residual;
  std::string reason;  ///< why the pair is left out, in one line; empty if it is used
};

/// A tile with its position in the mosaic.
struct LocatedTile {
  /// Where the tile's first pixel lies in the mosaic, in pixels; the smallest x and the smallest y
  /// of all tiles, or of their corners, are 0.
  Point position;
  /// From pixels of the tile to those of the mosaic: a translation by `position`, unless
  /// MosaicOptions::motion is another one.
  Homography matrix;
  std::size_t component = 0;  ///< index of the set of tiles that used pairs connect
  /// The number of used pairs. If it is 0, the stage model placed the tile; without known
  /// positions, the tile lies beside the others.
  std::size_t pairs = 0;
};

/// How the positions of the stage relate to those in the mosaic, without the offset. A parameter
/// is that of a perfect stage, unless the pairs show a significant difference.
struct StageModel {
  /// From the stage's positions to the mosaic's: the camera's angle, scale and shear.
  Affine matrix;
  /// By how many pixels tiles that the stage reached by moving towards larger x (or y) are further
  /// along x (or y) than those reached by moving the other way.
  Point backlash;
  /// Standard deviation of the tiles' positions from the model along x or y, in pixels.
  double deviation = 0;
};

/// The result of locate_tiles().
struct Mosaic {
  std::vector<LocatedTile> tiles;  ///< in the order of the given tiles
  std::vector<MosaicPair> pairs;   ///< all pairs that overlap, by the tile numbers
  std::size_t components = 0;      ///< the number of sets of tiles; 1: pairs connect all tiles
  /// The model that places tiles and sets without pairs. Without known positions there is none:
  /// its matrix is the identity, and sets of tiles lie side by side, the largest first.
  StageModel stage;
  TileDistortion distortion;  ///< zero unless the overlaps show one
  Shape shape;                ///< of the picture that covers all tiles
};

/// Locates the tiles of a mosaic. It registers the overlaps of all pairs that overlap according to
/// the stage (Motion::translation, verified and refined), on all devices, and finds the positions
/// by least squares, weighted by the pairs' confidence and covariance. A robust kernel (Geman and
/// McClure 1987, by graduated non-convexity: Yang et al. 2020) leaves out pairs that contradict the
/// others. The same fit estimates the stage model, which places tiles that no pair connects.
///
/// With MosaicOptions::motion, each overlap is registered with that motion, and Gauss-Newton steps
/// find a matrix for each tile: those with which the corners of all overlaps agree best.
///
/// If patches of the overlaps show a distortion that all tiles have in common, the overlaps are
/// registered once more without it, on the first device's undistorted tiles.
///
/// Without known positions, all tiles are compared with each other, at low resolution, in whole and
/// by strips along their edges; more than 24 tiles only until the pairs connect them, in the order
/// of the distance of their numbers. Then the tiles are arranged, and their overlaps are registered
/// as above. Positions of the stage and a stage model play no part.
///
/// If few pairs are accepted, whole neighbouring tiles are registered to find out what is wrong.
/// Throws Error(invalid_argument) that names the exchange or the factor with which the positions
/// would fit, for tiles at the same position, for fewer than 2 tiles, if no tiles overlap, and for
/// options out of range. Throws what `source` and `progress` throw, and device errors as
/// align_batch() does.
[[nodiscard]] WARPALIGN_API Mosaic locate_tiles(std::span<const Device> devices,
                                                std::span<const MosaicTile> tiles,
                                                const TileSource& source,
                                                const MosaicOptions& options = {});

/// Returns the pixels of a channel of a tile. One thread at a time calls it.
using ChannelSource = std::function<TilePixels(std::size_t tile, int channel)>;

/// Receives rows of the fused picture from `first_row` on, one dense image for each channel, which
/// are valid during the call. What it throws ends the work.
using RowSink = std::function<void(std::int64_t first_row, std::span<const HostImage> channels)>;

/// What fuse_tiles() makes.
struct FusionSpec {
  Shape picture;                   ///< of the fused picture, for example Mosaic::shape
  PixelType type = PixelType::u8;  ///< of the tiles and of the picture: u8, u16 or f32
  int channels = 1;                ///< 1 or more
  std::int64_t rows = 256;         ///< the number of rows that the sink receives at a time
  TileDistortion distortion{};     ///< of all tiles, for example Mosaic::distortion
  /// The value of missing pixels in tiles and in the picture; must be one that `type` can hold.
  std::optional<double> nodata{};
};

/// Fuses tiles into one picture, strip by strip from the top. `positions` are those of the tiles'
/// first pixels (LocatedTile::position). Each tile is resampled once, by its cubic spline, to the
/// picture's grid; where tiles overlap, the weight of a tile is the product of the distances to its
/// nearest edges along x and y. Pixels of tiles that are not finite, or have the value `nodata`,
/// are missing, as resample_known() has it: they do not count. Pixels for which no tile has a value
/// are `nodata`, or 0 without it; integers that would be rounded to it become the next integer.
/// Memory holds the tiles of about two rows of the mosaic, and one strip.
///
/// Throws Error(invalid_argument) for a wrong spec, a position that is not finite, or pixels of
/// another shape or type. Throws what `source` and `sink` throw, and device errors.
WARPALIGN_API void fuse_tiles(const Device& device, std::span<const MosaicTile> tiles,
                              std::span<const Point> positions, const ChannelSource& source,
                              const FusionSpec& spec, const RowSink& sink);

/// The same for tiles that are rotated, scaled or tilted: `matrices` map pixels of each tile to
/// those of the picture (LocatedTile::matrix). The weights are those of the tile's own pixels.
/// Throws Error(invalid_argument) also for a distortion, and for a matrix that is singular, or maps
/// a tile to infinity or beyond 2^30 pixels.
WARPALIGN_API void fuse_tiles(const Device& device, std::span<const MosaicTile> tiles,
                              std::span<const Homography> matrices, const ChannelSource& source,
                              const FusionSpec& spec, const RowSink& sink);

}  // namespace warpalign
