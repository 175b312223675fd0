// Registers the overlaps of tiles in one batch.
#include "mosaic/pair_registration.hpp"

#include "device/host_rows.hpp"
#include "mosaic/rotated_overlap.hpp"
#include "registration/numerics/plane_geometry.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace warpalign::detail {
namespace {

/// Rotated tiles are searched for within these limits: others would be mistakes.
constexpr double max_turn = 15;  // degrees
constexpr double max_scale = 1.25;

RegistrationOptions registration_of(Motion motion) {
  RegistrationOptions registration;
  registration.motion = motion;
  if (motion == Motion::translation) return registration;
  registration.min_angle = -max_turn;
  registration.max_angle = max_turn;
  if (motion == Motion::rigid) return registration;
  registration.min_scale = 1 / max_scale;
  registration.max_scale = max_scale;
  return registration;
}

Homography shift_by(double x, double y) { return Affine{1, 0, x, 0, 1, y}; }

/// A registration, its windows, and the judgement of its result.
class OverlapBatch {
 public:
  OverlapBatch(std::span<const MosaicTile> tiles, TileCache& cache,
               std::span<const ExpectedPair> pairs, double margin, const MosaicOptions& options,
               PairRecords& records)
      : tiles_(tiles),
        cache_(cache),
        pairs_(pairs),
        margin_(margin),
        options_(options),
        records_(records),
        batch_(records.begin_batch()),
        windows_(pairs.size()),
        in_work_(pairs.size()),
        is_incomplete_(pairs.size(), 0),
        measured_(pairs.size()) {}

  void run(std::span<const Device> devices) {
    std::vector<std::size_t> waiting;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      if (!restore(i)) waiting.push_back(i);
    }
    if (waiting.empty()) return;
    align_batch(
        devices, waiting.size(), [&](std::size_t k) { return pair(waiting[k]); },
        [&](std::size_t k, const BatchResult& result) {
          const std::size_t i = waiting[k];
          judge(i, result);
          in_work_[i].reset();
          if (is_incomplete_[i] == 0 && is_repeatable(result)) records_.keep(record_of(i));
          count();
          return true;
        },
        registration_of(options_.motion), options_.batch);
  }

  [[nodiscard]] std::vector<MeasuredPair> take() { return std::move(measured_); }

 private:
  void count() {
    if (options_.progress) options_.progress(++done_, pairs_.size());
  }

  static bool is_finite(const RegistrationResult& result) {
    double sum = result.confidence;
    for (const double element : result.homography.h) sum += element;
    return std::isfinite(sum);
  }

  /// Whether another call would have the same result: not if the device failed.
  static bool is_repeatable(const BatchResult& result) {
    if (result.error) {
      const ErrorKind kind = result.error->kind();
      return kind == ErrorKind::invalid_argument || kind == ErrorKind::invalid_image;
    }
    return is_finite(*result.result);
  }

  [[nodiscard]] PairRecord record_of(std::size_t i) const {
    const auto& [pair, expected, covariance, corners] = measured_[i];
    PairRecord record{batch_,       i,          pair.reference,   pair.moving,     expected.shift,
                      pair.outcome, pair.shift, covariance.lower, pair.confidence, pair.correlation,
                      pair.reason};
    if (!is_rotated()) return record;
    record.matrix = pair.matrix;
    for (std::size_t k = 0; k < overlap_corners; ++k) record.corners[k] = corners[k].lower;
    return record;
  }

  /// Takes the result of a pair from its record. Returns false if there is none.
  bool restore(std::size_t i) {
    const PairRecord* record = records_.find(batch_, i, pairs_[i]);
    if (record == nullptr) return false;
    MeasuredPair& measured = measured_[i];
    measured = unmeasured(pairs_[i]);
    set_covariance(measured, {record->covariance});
    MosaicPair& pair = measured.pair;
    pair.outcome = record->outcome;
    pair.shift = record->shift;
    pair.confidence = record->confidence;
    pair.correlation = record->correlation;
    pair.reason = record->reason;
    pair.matrix = is_rotated() ? record->matrix : shift_by(pair.shift.x, pair.shift.y);
    for (std::size_t k = 0; k < overlap_corners; ++k) {
      measured.corners[k] = {record->corners[k]};
    }
    count();
    return true;
  }

  HostPair pair(std::size_t i) {
    const ExpectedPair& expected = pairs_[i];
    const auto tiles = std::make_shared<TwoTiles>();
    tiles->reference = cache_.get(expected.reference);
    tiles->moving = cache_.get(expected.moving);
    if (is_absent(tiles->reference) || is_absent(tiles->moving)) {
      is_incomplete_[i] = 1;
      in_work_[i] = HostPair{};  // which is refused
      return *in_work_[i];
    }
    windows_[i] = overlap_windows(tiles_[expected.reference].shape, tiles_[expected.moving].shape,
                                  expected.shift, margin_);
    in_work_[i] = HostPair{window_of(tiles->reference.image, windows_[i][0]),
                           window_of(tiles->moving.image, windows_[i][1]),
                           {},
                           {},
                           tiles};
    return *in_work_[i];
  }

  void judge(std::size_t i, const BatchResult& result) {
    MeasuredPair& measured = measured_[i];
    measured = unmeasured(pairs_[i]);
    MosaicPair& pair = measured.pair;
    if (is_incomplete_[i] != 0) return set_failed(pair, absent_reason);
    if (result.error) return set_failed(pair, result.error->message());
    pair.confidence = result.result->confidence;
    pair.correlation = result.result->correlation;
    if (!is_finite(*result.result)) return set_failed(pair, not_finite_reason);
    if (!is_rotated()) {
      set_shift(pair, i, *result.result);
    } else if (!set_rotated(pair, i, *result.result)) {
      return set_failed(pair, "the registration maps the overlap to infinity");
    }
    if (result.result->ambiguous) {
      pair.outcome = PairOutcome::ambiguous;
      pair.reason = result.result->undetermined_direction
                        ? "the texture leaves a direction undetermined"
                        : "the texture repeats itself";
      return;
    }
    set_outcome(measured, options_.min_confidence, margin_);
    if (pair.outcome != PairOutcome::used) return;
    set_covariances(measured, i, *result.result);
  }

  [[nodiscard]] bool is_rotated() const { return options_.motion != Motion::translation; }

  void set_shift(MosaicPair& pair, std::size_t i, const RegistrationResult& result) const {
    const auto& [from, to] = windows_[i];
    pair.shift = {static_cast<double>(from.x - to.x) - result.matrix.c,
                  static_cast<double>(from.y - to.y) - result.matrix.f};
    pair.matrix = shift_by(pair.shift.x, pair.shift.y);
  }

  /// Sets the transform of rotated tiles, from that of their windows. Returns false for one that is
  /// none of an image.
  bool set_rotated(MosaicPair& pair, std::size_t i, const RegistrationResult& result) const {
    const auto& [from, to] = windows_[i];
    const Homography& found = result.homography;
    if (!is_regular(found, {from.width, from.height, 1})) return false;
    const Homography inverse = scaled(found.inverse());
    if (!is_regular(inverse, {to.width, to.height, 1})) return false;
    pair.matrix =
        scaled(shift_by(static_cast<double>(from.x), static_cast<double>(from.y)) * inverse *
               shift_by(-static_cast<double>(to.x), -static_cast<double>(to.y)));
    const Point middle = overlap_of(pair).middle;
    const Point place = pair.matrix(middle);
    pair.shift = {place.x - middle.x, place.y - middle.y};
    return true;
  }

  [[nodiscard]] RotatedOverlap overlap_of(const MosaicPair& pair) const {
    return rotated_overlap(pair.matrix, tiles_[pair.reference].shape, tiles_[pair.moving].shape);
  }

  void set_covariances(MeasuredPair& measured, std::size_t i, const RegistrationResult& result) {
    const HostImage& reference = in_work_[i]->reference;
    const HostImage& moving = in_work_[i]->moving;
    if (!is_rotated()) {
      set_covariance(measured,
                     shift_covariance(reference, moving, {result.matrix.c, result.matrix.f}));
      return;
    }
    const RotatedOverlap overlap = overlap_of(measured.pair);
    const Homography to_window =
        shift_by(-static_cast<double>(windows_[i][0].x), -static_cast<double>(windows_[i][0].y)) *
        measured.pair.matrix;
    RotatedOverlap points{to_window(overlap.middle), {}};
    for (std::size_t k = 0; k < overlap_corners; ++k) {
      points.corners[k] = to_window(overlap.corners[k]);
    }
    const RotatedCovariances found =
        rotated_covariances(reference, moving, result.homography, options_.motion, points);
    set_covariance(measured, found.middle);
    measured.corners = found.corners;
  }

  std::span<const MosaicTile> tiles_;
  TileCache& cache_;
  std::span<const ExpectedPair> pairs_;
  double margin_;
  const MosaicOptions& options_;
  PairRecords& records_;
  std::size_t batch_;
  std::vector<std::array<TileWindow, 2>> windows_;
  std::vector<std::optional<HostPair>> in_work_;
  std::vector<char> is_incomplete_;  ///< not bool: several threads write elements
  std::vector<MeasuredPair> measured_;
  std::size_t done_ = 0;
};

}  // namespace

HostImage window_of(const HostImage& image, const TileWindow& window) {
  const auto bytes = static_cast<std::int64_t>(size_of(image.type));
  const auto row_bytes = static_cast<std::int64_t>(pitch_of(image));
  const auto* first =
      static_cast<const std::byte*>(image.data) + window.y * row_bytes + window.x * bytes;
  return {first, image.type, window.width, window.height, row_bytes};
}

void sort_by_numbers(std::vector<MeasuredPair>& pairs) {
  std::sort(pairs.begin(), pairs.end(), [](const MeasuredPair& a, const MeasuredPair& b) {
    return std::tie(a.pair.moving, a.pair.reference) < std::tie(b.pair.moving, b.pair.reference);
  });
}

std::vector<MeasuredPair> register_overlaps(std::span<const Device> devices,
                                            std::span<const MosaicTile> tiles, TileCache& cache,
                                            std::span<const ExpectedPair> pairs, double margin,
                                            const MosaicOptions& options, PairRecords& records) {
  OverlapBatch batch(tiles, cache, pairs, margin, options, records);
  batch.run(devices);
  return batch.take();
}

}  // namespace warpalign::detail
