// An exhaustive search over rotation and scale at low resolution, for pairs whose log-polar spectra
// have too little in common: small overlap, perspective, strong zoom, masks.
#pragma once

#include "registration/pair/forked_worker.hpp"
#include "registration/pair/level_pair.hpp"
#include "registration/proposers/translation_search.hpp"

#include <warpalign/registrar.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The resolution of the grid.
struct GridSteps {
  double rotation;  ///< degrees
  double scale;     ///< a factor above 1
  /// Sides of the padded frames. Square images of one scale are about 0.4 times as wide. The search
  /// tries all poses on the small frames and the best ones again on the large frames. With strong
  /// zoom few pixels overlap on small frames, so intensity then uses large frames alone.
  std::int64_t small_side, large_side;
};

/// The translation searches on small and on large frames.
struct GridFrames {
  /// The number of rotations per batch.
  struct Batches {
    std::int64_t small, large;
  };
  GridFrames(const Device& device, const GridSteps& steps, const Batches& batches,
             SignalKind signal)
      : small(device, steps.small_side, batches.small, signal),
        large(device, steps.large_side, batches.large, signal) {}

  TranslationSearch small, large;
};

inline constexpr GridSteps standard_grid{4, 1.25, 128, 256};
inline constexpr GridSteps orientation_grid{3, 1.189207115, 128, 256};  // four scales an octave
inline constexpr GridSteps fine_grid{3, 1.189207115, 160, 320};

/// The number of poses of a grid that are worth refining.
[[nodiscard]] inline std::size_t max_grid_proposals(const RegistrationOptions& options) {
  return options.search == Effort::thorough ? 16 : 8;
}

/// The maximum number of threads that search a grid in addition to the calling one.
inline constexpr std::size_t grid_workers = 2;

class GridSearch {
 public:
  /// `signal` selects what find() compares: intensity or orientation. `options` must outlive the
  /// search.
  GridSearch(const Device& device, const RegistrationOptions& options,
             const GridSteps& steps = standard_grid, SignalKind signal = SignalKind::intensity);
  GridSearch(const Device&, RegistrationOptions&&, const GridSteps& = standard_grid,
             SignalKind = SignalKind::intensity) = delete;

  /// Returns the best distinct poses, best first, at most `maximum`. Waits for the device. The
  /// result is valid until the next call.
  std::span<const TranslationPeak> find(const PairContext& work, std::size_t maximum);

 private:
  using Found = std::span<const TranslationSearch::Peaks>;
  /// A pose, with the rotation (below 180 degrees) and the scale at which it was found.
  struct Pose {
    TranslationPeak peak;
    double rotation_deg;
    double scale;
    /// The sort key: the score, or the score divided by the baseline of its scale.
    double relative_score;
  };
  /// The typical score at a scale.
  struct ScoreBaseline {
    double scale;
    double score;
  };
  /// Rotations below 180 degrees, `step` degrees apart.
  struct Rotations {
    double step;
    std::vector<double> degrees;
  };
  static Rotations rotations_of(const RegistrationOptions& options, double step);
  /// Returns an evenly spread sample of the rotations, large enough to define baselines.
  static Rotations sample_of(const RegistrationOptions& options, const Rotations& rotations);
  [[nodiscard]] double base_of(double scale) const;
  /// Adds the rotations at each of the scales to compared_, which search() processes.
  void add(std::span<const double> scales, const Rotations& rotations);
  /// Adds, at each of the scales, the rotations that differ by `offsets` from those of known poses.
  void add_neighbours(std::span<const double> scales, std::initializer_list<double> offsets);
  /// The same at one scale times a factor, and with the rotations `others`. Expects
  /// neighbour_rotations_ to have enough capacity.
  void add_neighbours_at(double scale, double factor, std::initializer_list<double> offsets,
                         std::span<const double> others = {});
  /// Adds the neighbours of known poses at half a step in rotation, in scale, and in both.
  void add_half_steps();
  /// Adds the grid points of the known poses, and the sample's rotations at some of the scales.
  void add_known_and_sampled();
  /// Searches the rotations in compared_, which are `step` degrees apart, and adds the poses found.
  void search(const PairContext& work, TranslationSearch GridFrames::*frames, double step);
  /// Adds the poses of the peaks that were found for part of compared_.
  void add_poses(std::span<const KnownRotationScale> compared, Found peaks, double step);
  /// Divides compared_ into parts_ with about equal numbers of rotations and different bases: one
  /// for this thread and one for each worker.
  void divide(bool has_workers);
  /// Searches parts_ from number `first`: the last one on this thread, the others on workers.
  void find_parts(const PairContext& work, TranslationSearch GridFrames::*frames,
                  std::size_t first);
  void compute_baselines(const Rotations& baseline_rotations);
  void normalize_scores(std::span<Pose> places) const;
  void select_promising();
  void search_promising(const PairContext& work);
  void search_orientation(const PairContext& work);
  void search_intensity(const PairContext& work);
  void search_moderate(const PairContext& work);
  void search_strong(const PairContext& work);
  void keep_distinct(const PairContext& work, std::size_t maximum);

  const RegistrationOptions& options_;
  double scale_step_;
  std::vector<double> moderate_, strong_, scales_;  // scales_: all
  Rotations rotations_, sample_, strong_rotations_;
  std::vector<KnownRotationScale> compared_;
  std::vector<double> neighbour_rotations_;  // degrees
  std::vector<double> scores_;
  std::vector<ScoreBaseline> baselines_;  // one per scale that has enough scores
  Device device_;
  GridSteps steps_;
  GridFrames::Batches batches_;
  GridFrames frames_;
  SignalKind signal_;
  std::array<std::optional<ForkedWorker<GridFrames>>, grid_workers> workers_;
  std::array<std::span<const KnownRotationScale>, 1 + grid_workers> parts_;
  std::array<Found, 1 + grid_workers> part_peaks_;
  std::vector<Pose> poses_, known_, moderate_poses_;
  std::vector<TranslationPeak> found_;
};

}  // namespace warpalign::detail
