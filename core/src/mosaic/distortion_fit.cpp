// The distortion that all tiles have in common, from the patches of their overlaps.
//
// If pixel a of the reference tile and pixel b of the moving tile show the same point, then
// a + D(a) = s + b + D(b), where D is the distortion and s the shift of the pair. The shifts and
// the coefficients of D are the unknowns of a linear problem.
#include "mosaic/distortion_fit.hpp"

#include "mosaic/distortion_refinement.hpp"
#include "mosaic/normal_equations.hpp"
#include "mosaic/patch_registration.hpp"
#include "registration/numerics/plane_geometry.hpp"
#include "registration/numerics/robust_scale.hpp"
#include "registration/numerics/upper_median.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace warpalign::detail {
namespace {

constexpr std::size_t axes = 2;
constexpr std::size_t coefficients = axes * TileDistortion::terms;

/// One fit with given free terms.
class DistortionFit {
 public:
  DistortionFit(std::span<const OverlapMatch> matches, std::size_t pairs, const Shape& tile,
                const DistortionTerms& free)
      : matches_(matches), pairs_(pairs), free_(free), weights_(matches.size(), 1) {
    model_.center = {static_cast<double>(tile.width - 1) / 2,
                     static_cast<double>(tile.height - 1) / 2};
    model_.radius = static_cast<double>(std::max(tile.width, tile.height)) / 2;
  }

  void fit() {
    constexpr int steps = 12;
    deviation_ = std::numeric_limits<double>::infinity();
    for (int i = 0; i < steps; ++i) {
      solve();
      update_weights();
    }
    solve();
  }

  [[nodiscard]] const TileDistortion& model() const { return model_; }
  [[nodiscard]] double deviation() const { return deviation_; }
  [[nodiscard]] std::vector<Point> shifts() const {
    std::vector<Point> shifts;
    for (std::size_t i = 0; i < pairs_; ++i) {
      shifts.push_back({shifts_[axes * i], shifts_[axes * i + 1]});
    }
    return shifts;
  }
  /// The values of the terms divided by their standard deviations.
  [[nodiscard]] std::array<double, coefficients> significances() const {
    std::array<double, coefficients> result{};
    for (std::size_t i = 0; i < coefficients; ++i) {
      const double variance = variances_[i] * deviation_ * deviation_;
      result[i] = free_[i] && variance > 0 ? std::abs(value(i)) / std::sqrt(variance) : 0;
    }
    return result;
  }

 private:
  [[nodiscard]] double value(std::size_t i) const {
    return i < TileDistortion::terms ? model_.x[i] : model_.y[i - TileDistortion::terms];
  }

  void solve() {
    NormalEquations equations(coefficients + axes * pairs_);
    // Terms that no match determines become 0, as do shifts of pairs without a match. Both
    // deviations are relative to that of a match.
    constexpr double deviation_of_terms = 100;
    constexpr double deviation_of_shifts = 1e6;
    for (std::size_t i = 0; i < coefficients + axes * pairs_; ++i) {
      const NormalEquations::Term term{i, 1};
      const double deviation = i < coefficients ? deviation_of_terms : deviation_of_shifts;
      equations.add({&term, 1}, 0, 1 / (deviation * deviation));
    }
    for (std::size_t i = 0; i < matches_.size(); ++i) {
      if (!(weights_[i] > 0)) continue;
      const OverlapMatch& match = matches_[i];
      const auto from = model_.monomials(match.reference);
      const auto to = model_.monomials(match.moving);
      for (std::size_t axis = 0; axis < axes; ++axis) {
        std::vector<NormalEquations::Term> row{{coefficients + axes * match.pair + axis, 1}};
        for (std::size_t k = 0; k < TileDistortion::terms; ++k) {
          const std::size_t unknown = axis * TileDistortion::terms + k;
          if (free_[unknown]) row.push_back({unknown, to[k] - from[k]});
        }
        const double off =
            axis == 0 ? match.reference.x - match.moving.x : match.reference.y - match.moving.y;
        equations.add(row, off, weights_[i]);
      }
    }
    const std::vector<double> solution = equations.solve();
    for (std::size_t k = 0; k < TileDistortion::terms; ++k) {
      model_.x[k] = solution[k];
      model_.y[k] = solution[TileDistortion::terms + k];
    }
    for (std::size_t i = 0; i < coefficients; ++i) variances_[i] = equations.variance(i);
    shifts_.assign(solution.begin() + coefficients, solution.end());
  }

  [[nodiscard]] Point residual(const OverlapMatch& match) const {
    const Point from = model_.displacement(match.reference);
    const Point to = model_.displacement(match.moving);
    return {match.reference.x + from.x - match.moving.x - to.x - shifts_[axes * match.pair],
            match.reference.y + from.y - match.moving.y - to.y - shifts_[axes * match.pair + 1]};
  }

  /// Tukey's weights, whose scale follows the residuals.
  void update_weights() {
    constexpr double min_deviation = 0.02;  // pixels
    std::vector<double> absolute;
    for (const OverlapMatch& match : matches_) {
      const Point r = residual(match);
      absolute.insert(absolute.end(), {std::abs(r.x), std::abs(r.y)});
    }
    deviation_ = std::max(deviation_per_median * upper_median(std::span(absolute)), min_deviation);
    for (std::size_t i = 0; i < matches_.size(); ++i) {
      const double ratio = length(residual(matches_[i])) / (tukey_constant * deviation_);
      const double inside = std::max(0.0, 1 - ratio * ratio);
      weights_[i] = inside * inside;
    }
  }

  std::span<const OverlapMatch> matches_;
  std::size_t pairs_;
  DistortionTerms free_;
  std::vector<double> weights_;
  TileDistortion model_;
  std::vector<double> shifts_;
  std::array<double, coefficients> variances_{};
  double deviation_ = 0;
};

/// Patches spread over the overlap of a pair.
void add_patches(const MeasuredPair& measured, std::span<const MosaicTile> tiles,
                 std::size_t wanted, std::vector<PatchPair>& patches) {
  constexpr std::int64_t max_side = 64;
  const MosaicPair& pair = measured.pair;
  const Shape& shape = tiles[pair.reference].shape;
  const auto [from, to] = overlap_windows(shape, tiles[pair.moving].shape,
                                          {std::round(pair.shift.x), std::round(pair.shift.y)}, 0);
  const std::int64_t width = std::min(from.width, to.width);
  const std::int64_t height = std::min(from.height, to.height);
  const std::int64_t side = std::min({max_side, width, height});
  if (side < 2 * min_registered_side) return;
  // Two positions across the strip, if it is wide enough, show how the distortion changes there.
  const std::int64_t across = std::min(width, height) > side + side / 4 ? 2 : 1;
  const std::int64_t along = std::max<std::int64_t>(2, static_cast<std::int64_t>(wanted) / across);
  const std::int64_t columns = width < height ? across : along;
  const std::int64_t rows = width < height ? along : across;
  const auto start = [&](std::int64_t i, std::int64_t count, std::int64_t extent) {
    return count == 1 ? (extent - side) / 2 : i * (extent - side) / (count - 1);
  };
  for (std::int64_t j = 0; j < rows; ++j) {
    for (std::int64_t i = 0; i < columns; ++i) {
      const std::int64_t x = start(i, columns, width);
      const std::int64_t y = start(j, rows, height);
      patches.push_back({pair.reference,
                         pair.moving,
                         {from.x + x, from.y + y, side, side},
                         {to.x + x, to.y + y, side, side}});
    }
  }
}

Point center_of(const TileWindow& window) {
  return {static_cast<double>(window.x) + static_cast<double>(window.width - 1) / 2,
          static_cast<double>(window.y) + static_cast<double>(window.height - 1) / 2};
}

}  // namespace

DistortionTerms determined_terms(std::span<const Point> shifts, const Shape& tile) {
  constexpr double min_overlap = 0.15;  // of a tile's side
  constexpr std::size_t u3_along_x = 3;
  constexpr std::size_t v3_along_y = TileDistortion::terms + 6;
  std::vector<double> along_x;
  std::vector<double> along_y;
  for (const Point& shift : shifts) {
    const double x = std::abs(shift.x) / static_cast<double>(tile.width);
    const double y = std::abs(shift.y) / static_cast<double>(tile.height);
    (x > y ? along_x : along_y).push_back(1 - std::max(x, y));
  }
  const auto is_wide = [](std::vector<double>& overlaps) {
    return !overlaps.empty() && upper_median(std::span(overlaps)) >= min_overlap;
  };
  DistortionTerms terms{};
  terms.fill(true);
  terms[u3_along_x] = is_wide(along_x);
  terms[v3_along_y] = is_wide(along_y);
  return terms;
}

std::optional<FittedDistortion> fit_distortion(std::span<const OverlapMatch> matches,
                                               std::size_t pairs, const Shape& tile,
                                               DistortionTerms free) {
  constexpr std::size_t min_matches = 24;
  constexpr double min_significance = 4;
  constexpr double max_remaining = 0.8;  // of the deviation without a distortion
  if (matches.size() < min_matches + pairs) return {};
  DistortionFit none(matches, pairs, tile, DistortionTerms{});
  none.fit();
  // Terms leave one by one, since each one changes the significance of the others.
  for (;;) {
    DistortionFit fit(matches, pairs, tile, free);
    fit.fit();
    const auto significances = fit.significances();
    std::size_t least = coefficients;
    for (std::size_t i = 0; i < coefficients; ++i) {
      if (free[i] && (least == coefficients || significances[i] < significances[least])) least = i;
    }
    if (least == coefficients) return {};
    if (significances[least] < min_significance) {
      free[least] = false;
      continue;
    }
    if (fit.deviation() > max_remaining * none.deviation()) return {};
    return FittedDistortion{fit.model(), fit.shifts()};
  }
}

std::optional<TileDistortion> estimate_distortion(std::span<const Device> devices,
                                                  std::span<const MosaicTile> tiles,
                                                  TileCache& cache,
                                                  std::span<const MeasuredPair> pairs,
                                                  const MosaicOptions& options) {
  constexpr std::size_t max_patches = 120;
  constexpr std::size_t max_patches_of_pair = 10;
  constexpr std::size_t max_pairs = 20;
  constexpr double max_pixels = 8e6;  // of overlaps, which are kept in memory
  const Shape& shape = tiles.front().shape;
  for (const MosaicTile& tile : tiles) {
    if (tile.shape != shape) return {};
  }
  std::vector<const MeasuredPair*> used;
  for (const MeasuredPair& measured : pairs) {
    if (measured.pair.outcome == PairOutcome::used) used.push_back(&measured);
  }
  if (used.size() < 2) return {};
  const MosaicPair& first = used.front()->pair;
  const TileWindow overlap = overlap_windows(shape, shape, first.shift, 0)[0];
  const auto affordable = static_cast<std::size_t>(
      max_pixels / std::max(1.0, static_cast<double>(overlap.width * overlap.height)));
  const std::size_t chosen =
      std::min({max_pairs, used.size(), std::max<std::size_t>(affordable, 4)});
  const std::size_t wanted = std::min(max_patches_of_pair, max_patches / chosen);
  std::vector<PatchPair> patches;
  std::vector<std::size_t> pair_of_patch;
  for (std::size_t k = 0; k < chosen; ++k) {
    add_patches(*used[k * used.size() / chosen], tiles, wanted, patches);
    pair_of_patch.resize(patches.size(), k);
  }
  const std::vector<std::optional<Point>> moved =
      register_patches(devices, cache, patches, options.batch);
  std::vector<OverlapMatch> matches;
  for (std::size_t i = 0; i < patches.size(); ++i) {
    const TileWindow& window = patches[i].in_reference;
    // Half of the patches must show the same scene.
    if (!moved[i] || length(*moved[i]) > 0.5 * static_cast<double>(window.width)) continue;
    const Point to = center_of(patches[i].in_moving);
    matches.push_back(
        {pair_of_patch[i], center_of(window), {to.x + moved[i]->x, to.y + moved[i]->y}});
  }
  std::vector<Point> shifts;
  for (const MeasuredPair* measured : used) shifts.push_back(measured->pair.shift);
  const DistortionTerms free = determined_terms(shifts, shape);
  const std::optional<FittedDistortion> fitted = fit_distortion(matches, chosen, shape, free);
  if (!fitted) return {};
  std::vector<ShiftedPair> shifted;
  for (std::size_t k = 0; k < chosen; ++k) {
    const bool has_matches = std::any_of(
        matches.begin(), matches.end(), [&](const OverlapMatch& match) { return match.pair == k; });
    const MosaicPair& pair = used[k * used.size() / chosen]->pair;
    if (has_matches) shifted.push_back({pair.reference, pair.moving, fitted->shifts[k]});
  }
  const TileDistortion refined = refine_distortion(cache, shifted, shape, fitted->distortion, free);
  if (refined.is_zero()) return {};
  return refined;
}

}  // namespace warpalign::detail
