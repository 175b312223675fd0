// An exhaustive search over rotation and scale at low resolution, for pairs whose log-polar spectra
// have too little in common: partial overlap, perspective, strong zoom, masks.
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

/// How fine the grid is.
struct GridSteps {
  double rotation;  ///< degrees
  double scale;     ///< a factor above 1
  /// Of the padded frames; images of one scale and square shape are then about 0.4 times as wide.
  /// All poses are tried on the small frames, and the best again on the large ones; but strong
  /// zooms, which leave a few pixels in common on small frames, are compared by intensity on large
  /// frames alone.
  std::int64_t small_side, large_side;
};

/// The translation searches on small and on large frames.
struct GridFrames {
  /// How many rotations are compared at once.
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

/// How many of a grid's poses are worth refining.
[[nodiscard]] inline std::size_t max_grid_proposals(const RegistrationOptions& options) {
  return options.search == Effort::thorough ? 16 : 8;
}

/// How many threads may compare a grid beside the searching one.
inline constexpr std::size_t grid_workers = 2;

class GridSearch {
 public:
  /// `signal`: what find() compares, intensity or orientation. The options outlive the search.
  GridSearch(const Device& device, const RegistrationOptions& options,
             const GridSteps& steps = standard_grid, SignalKind signal = SignalKind::intensity);
  GridSearch(const Device&, RegistrationOptions&&, const GridSteps& = standard_grid,
             SignalKind = SignalKind::intensity) = delete;

  /// The best places that differ from one another, best first, at most `maximum`. Waits for the
  /// device. The result is valid until the next call.
  std::span<const TranslationPeak> find(const PairContext& work, std::size_t maximum);

 private:
  using Found = std::span<const TranslationSearch::Peaks>;
  /// A place, and the rotation, below 180 degrees, and the scale that led to it.
  struct Place {
    TranslationPeak peak;
    double rotation_deg;
    double scale;
    /// By which places are compared: the score, or the score relative to what others have.
    double standing;
  };
  /// What scores are at a scale.
  struct Typical {
    double scale;
    double score;
  };
  /// Rotations below 180 degrees, `step` degrees apart.
  struct Rotations {
    double step;
    std::vector<double> degrees;
  };
  static Rotations rotations_of(const RegistrationOptions& options, double step);
  /// Some of the rotations, evenly spread, and enough of them to tell what scores are typical.
  static Rotations sample_of(const RegistrationOptions& options, const Rotations& rotations);
  [[nodiscard]] double base_of(double scale) const;
  /// Adds the rotations at each of the scales to what search() compares.
  void add(std::span<const double> scales, const Rotations& rotations);
  /// Adds, at each of the scales, the rotations that are `offsets` away from those of known places.
  void add_beside(std::span<const double> scales, std::initializer_list<double> offsets);
  /// The same at one of the scales times a factor. beside_ must have room.
  /// `others`: rotations that are added as well.
  void add_beside_at(double scale, double factor, std::initializer_list<double> offsets,
                     std::span<const double> others = {});
  /// Adds what lies half a step of the rotation, of the scale or of both beside known places.
  void add_between();
  /// Adds what has led to the known places, and the sample's rotations at some of the scales.
  void add_known_and_sample();
  /// Compares what was added, of which rotations are `step` degrees apart, and adds the places.
  void search(const PairContext& work, TranslationSearch GridFrames::*frames, double step);
  /// Adds the places that peaks say of some of compared_.
  void add_places(std::span<const KnownRotationScale> compared, Found peaks, double step);
  /// Divides compared_ into parts_, of about as many rotations each, and of different bases: one
  /// for this thread, and one for each worker.
  void divide(bool has_workers);
  /// Searches parts_ from number `first` on: the last of them on this thread, the others on those
  /// of workers.
  void find_parts(const PairContext& work, TranslationSearch GridFrames::*frames,
                  std::size_t first);
  void find_typical_scores(const Rotations& told_by);
  void relate_to_typical_scores(std::span<Place> places) const;
  void know_promising();
  void search_promising(const PairContext& work);
  void search_directions(const PairContext& work);
  void search_grey_levels(const PairContext& work);
  void search_moderate(const PairContext& work);
  void search_strong(const PairContext& work);
  void keep_distinct(const PairContext& work, std::size_t maximum);

  const RegistrationOptions& options_;
  double scale_step_;
  std::vector<double> moderate_, strong_, scales_;  // scales_: all
  Rotations rotations_, sample_, of_strong_;
  std::vector<KnownRotationScale> compared_;
  std::vector<double> beside_;  // rotations
  std::vector<double> scores_;
  std::vector<Typical> typical_;  // of each scale that has enough scores
  Device device_;
  GridSteps steps_;
  GridFrames::Batches batches_;
  GridFrames frames_;
  SignalKind signal_;
  std::array<std::optional<ForkedWorker<GridFrames>>, grid_workers> workers_;
  std::array<std::span<const KnownRotationScale>, 1 + grid_workers> parts_;
  std::array<Found, 1 + grid_workers> found_of_parts_;
  std::vector<Place> places_, known_, of_moderate_;
  std::vector<TranslationPeak> found_;
};

}  // namespace warpalign::detail
