// Registers the overlaps of volume tiles in one batch.
#include "mosaic/volume_pair_registration.hpp"

#include "device/check.hpp"
#include "mosaic/stage_name.hpp"
#include "mosaic/volume_rivals.hpp"
#include "registration/batch/volume_batch.hpp"
#include "tiles/region_copy.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

namespace warpalign::detail {
namespace {

using Windows = std::array<Region, 2>;

/// The windows of both tiles, as dense volumes.
struct WindowVoxels {
  std::array<std::vector<std::byte>, 2> bytes;
  std::array<HostVolume, 2> volumes;
};

std::shared_ptr<WindowVoxels> cut(const std::array<TilePixels, 2>& tiles,
                                  const std::array<Shape, 2>& shapes, const Windows& windows) {
  auto cut = std::make_shared<WindowVoxels>();
  for (std::size_t i = 0; i < 2; ++i) {
    const PixelType type = tiles[i].image.type;
    const Region& window = windows[i];
    cut->bytes[i].resize(static_cast<std::size_t>(window.shape.pixels()) * size_of(type));
    gather(static_cast<const std::byte*>(tiles[i].image.data), shapes[i], window, size_of(type),
           cut->bytes[i].data());
    cut->volumes[i] = {cut->bytes[i].data(), type, window.shape};
  }
  return cut;
}

class VolumeOverlapBatch {
 public:
  VolumeOverlapBatch(std::span<const VolumeMosaicTile> tiles, TileCache& cache,
                     std::span<const ExpectedPairOf<Point3>> pairs, double margin,
                     const VolumeMosaicOptions& options)
      : tiles_(tiles),
        cache_(cache),
        pairs_(pairs),
        margin_(margin),
        options_(options),
        in_work_(pairs.size()),
        measured_(pairs.size()),
        order_(pairs.size()) {
    for (const auto& pair : pairs) {
      windows_.push_back(overlap_regions(tiles[pair.reference].shape, tiles[pair.moving].shape,
                                         pair.shift, margin));
    }
    // Pairs of equal shapes share the plans of a registrar.
    const auto key = [&](std::size_t i) {
      const auto& [from, to] = windows_[i];
      return std::make_tuple(from.shape.depth, from.shape.height, from.shape.width, to.shape.depth,
                             to.shape.height, to.shape.width);
    };
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  }

  void run(std::span<const Device> devices) {
    VolumeRegistrationOptions registration;
    // Windows begin up to `margin` voxels before the overlap, and the overlap is as uncertain.
    const double most = 2 * margin_ + static_cast<double>(min_registered_volume_side);
    registration.max_shift = {most, most, most};
    align_volume_batch(
        devices, pairs_.size(), [&](std::size_t k) { return pair(order_[k]); },
        [&](std::size_t k, const VolumeBatchResult& result) {
          judge(order_[k], result);
          in_work_[order_[k]].reset();
          if (options_.progress) options_.progress(++done_, pairs_.size());
          return true;
        },
        registration, options_.batch);
  }

  [[nodiscard]] std::vector<MeasuredPairOf<Point3>> take() { return std::move(measured_); }

 private:
  VolumePairInMemory pair(std::size_t i) {
    const auto& expected = pairs_[i];
    const std::array<TilePixels, 2> tiles{cache_.get(expected.reference),
                                          cache_.get(expected.moving)};
    if (is_absent(tiles[0]) || is_absent(tiles[1])) return {};  // which is refused
    in_work_[i] =
        cut(tiles, {tiles_[expected.reference].shape, tiles_[expected.moving].shape}, windows_[i]);
    return {in_work_[i]->volumes[0], in_work_[i]->volumes[1], in_work_[i]};
  }

  void judge(std::size_t i, const VolumeBatchResult& result) {
    auto& measured = measured_[i];
    measured = unmeasured(pairs_[i]);
    VolumeMosaicPair& pair = measured.pair;
    if (!in_work_[i]) return set_failed(pair, absent_reason);
    if (result.error) return set_failed(pair, result.error->message());
    pair.confidence = result.result->confidence;
    pair.correlation = result.result->correlation;
    const Point3& moved = result.result->translation;
    if (!is_finite(moved) || !std::isfinite(pair.confidence)) {
      return set_failed(pair, not_finite_reason);
    }
    const auto& [from, to] = windows_[i];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      along(pair.shift, axis) =
          static_cast<double>(from.begin[axis] - to.begin[axis]) - along(moved, axis);
    }
    set_outcome(measured, options_.min_confidence, margin_);
    if (pair.outcome != PairOutcome::used) return;
    const auto& volumes = in_work_[i]->volumes;
    if (rival_shift(volumes[0], volumes[1], moved, range_of(i))) {
      pair.outcome = PairOutcome::ambiguous;
      pair.reason = "the texture repeats itself";
      return;
    }
    set_covariance(measured, shift_covariance(volumes[0], volumes[1], moved));
  }

  /// The shifts between the windows of a pair that are within the margin of the expected one.
  [[nodiscard]] ShiftRange range_of(std::size_t i) const {
    const auto& [from, to] = windows_[i];
    ShiftRange range;
    range.margin = margin_;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      along(range.middle, axis) =
          static_cast<double>(from.begin[axis] - to.begin[axis]) - along(pairs_[i].shift, axis);
    }
    return range;
  }

  std::span<const VolumeMosaicTile> tiles_;
  TileCache& cache_;
  std::span<const ExpectedPairOf<Point3>> pairs_;
  double margin_;
  const VolumeMosaicOptions& options_;
  std::vector<Windows> windows_;
  std::vector<std::shared_ptr<WindowVoxels>> in_work_;  ///< null if a tile of the pair is absent
  std::vector<MeasuredPairOf<Point3>> measured_;
  std::vector<std::size_t> order_;  ///< of the registrations
  std::size_t done_ = 0;
};

}  // namespace

std::vector<MosaicTile> tiles_of_rows(std::span<const VolumeMosaicTile> tiles) {
  std::vector<MosaicTile> rows;
  for (const VolumeMosaicTile& tile : tiles) {
    rows.push_back({{tile.shape.width, tile.shape.height * tile.shape.depth, 1}, {}});
  }
  return rows;
}

TileSource source_of_rows(std::span<const VolumeMosaicTile> tiles, const VolumeTileSource& source) {
  return [tiles, &source](std::size_t i) -> TilePixels {
    TileVoxels voxels = source(i);
    const HostVolume& volume = voxels.volume;
    if (volume.data == nullptr) return {};
    if (volume.shape != tiles[i].shape) {
      refuse(mosaic_stage, "tile " + std::to_string(i) + " is " + to_string(volume.shape) +
                               ", but its shape was given as " + to_string(tiles[i].shape));
    }
    return {
        {volume.data, volume.type, volume.shape.width, volume.shape.height * volume.shape.depth, 0},
        std::move(voxels.owner)};
  };
}

std::vector<MeasuredPairOf<Point3>> register_volume_overlaps(
    std::span<const Device> devices, std::span<const VolumeMosaicTile> tiles, TileCache& cache,
    std::span<const ExpectedPairOf<Point3>> pairs, double margin,
    const VolumeMosaicOptions& options) {
  VolumeOverlapBatch batch(tiles, cache, pairs, margin, options);
  batch.run(devices);
  return batch.take();
}

}  // namespace warpalign::detail
