// Finds the translation between two pyramid levels whose rotation and scale are known, by
// normalized correlation over their overlap.
#pragma once

#include "device/readback.hpp"
#include "registration/numerics/plane_geometry.hpp"
#include "registration/numerics/shift_surface.hpp"
#include "registration/pair/context.hpp"
#include "registration/pyramid/base_scales.hpp"
#include "registration/resources/other_maxima.hpp"
#include "registration/resources/plan_cache.hpp"
#include "registration/signal/gradient_fields.hpp"
#include "registration/signal/signal_kind.hpp"

#include <warpalign/backend/stages/spectrum/overlap_correlation.hpp>
#include <warpalign/backend/stages/spectrum/overlap_counts.hpp>
#include <warpalign/backend/stages/spectrum/peak.hpp>
#include <warpalign/backend/stages/spline/warp.hpp>
#include <warpalign/registrar.hpp>
#include <warpalign/stages/fft.hpp>

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// A peak of the correlation: a pose of the moving image.
struct TranslationPeak {
  Affine matrix;     ///< reference pixels -> moving pixels
  double score = 0;  ///< height of the peak; of the order of 1 for unrelated images
};

/// The largest distance between the images' centres, in pixels of the moving image; 0: no limit.
struct MaxShift {
  double length = 0;
  double x = 0;  ///< along the moving image's axes
  double y = 0;

  [[nodiscard]] static MaxShift of(const RegistrationOptions& options) {
    return {options.max_shift, options.max_shift_x, options.max_shift_y};
  }
};

/// The rotations and the scale for which the translation is searched.
struct KnownRotationScale {
  std::span<const double> rotations_deg;
  double scale = 1;  ///< of the moving image's content relative to the reference's
  double base = 1;   ///< a nearby scale, which selects the levels that are compared
  MaxShift max_shift = {};
};

class TranslationSearch {
 public:
  /// The peaks for a rotation [0] and for the opposite one, 180 degrees more [1].
  using Peaks = std::array<TranslationPeak, 2>;

  /// The number of rotations per batch on padded frames of a side, if `most` rotations fill a GPU.
  [[nodiscard]] static std::int64_t batch_on(const Device& device, std::int64_t side,
                                             std::int64_t most);

  /// `side` is the side of the padded frame, in which levels of both images fit next to each other.
  /// `batch` is the number of rotations per batch. `signal` selects what find() compares: intensity
  /// or orientation.
  TranslationSearch(const Device& device, std::int64_t side, std::int64_t batch = 1,
                    SignalKind signal = SignalKind::intensity);

  /// Returns the peaks at each rotation of each element of `known`, in order. Consecutive elements
  /// with the same base share the reference's transform, and batches. Waits for the device. The
  /// result is valid until the next call. It may be shorter if the context is cancelled.
  std::span<const Peaks> find(const PairContext& work, std::span<const KnownRotationScale> known);
  /// Whether the peak of a search that compared one rotation only has no rival: no other shift
  /// scores nearly as much (see OtherMaxima). `opposite`: which of the two peaks. Waits for the
  /// device. To be called before the next search.
  [[nodiscard]] bool is_only_maximum(Stream& stream, std::size_t opposite);
  /// The correlation at every shift, in the first of two slices, on the device.
  struct Correlations {
    CorrelationFrame frame;
    const Image& correlations;
    const Image& overlaps;
  };
  /// Correlates the images at every shift of the moving image, after `transform` (reference pixels
  /// -> moving pixels) has brought it to the reference's frame; by a search of a batch of 1.
  /// `similarity`: about the same transform. The result is valid until the next call.
  [[nodiscard]] Correlations correlate_all(const PairContext& work, const Affine& similarity,
                                           const Homography& transform);

 private:
  /// The two levels under comparison.
  struct Compared {
    ImagePyramid& reference;
    ImagePyramid& moving;
    Spacings spacings;
    PyramidLevel& reference_level;
    PyramidLevel& moving_level;
    [[nodiscard]] double scale_between_levels(double scale) const {
      return scale * spacings.reference / spacings.moving;
    }
  };
  [[nodiscard]] Compared levels_of(const PairContext& work, double base);
  /// Starts measuring the fields of the levels of all bases, so that the search waits for the
  /// device once. One wait per base would leave the device idle each time.
  void measure_fields(const PairContext& work, std::span<const KnownRotationScale> known);
  /// Prepares the comparison of the levels of a base.
  [[nodiscard]] Compared begin(const PairContext& work, double base);
  /// Adds a rotation to the next batch.
  void add(const Compared& compared, const Affine& linear, const OverlapLimits& limits);
  void transform_reference(const PairContext& work, PyramidLevel& level);
  void transform_moving(Stream& stream, StageClock& clock, std::span<const Affine> linear);
  void transform_fields(Stream& stream, StageClock& clock, std::span<const Affine> linear);
  void correlate(Stream& stream, StageClock& clock);
  void compute_overlaps(Stream& stream, StageClock& clock, const PyramidLevel& reference,
                        const Image& weights);
  /// A batch of rotations from its enqueueing until its peaks are taken.
  struct Batch {
    Point reference_centre{}, moving_centre{};     ///< of the levels, in their pixels
    Affine from_reference_image, to_moving_image;  ///< between images and levels
    std::vector<Affine> linear;                    ///< one per rotation
    Shape reference_level;
    /// Of the first rotation.
    OverlapLimits limits;
    std::optional<OverlapOutline> outline;  ///< if overlaps follow from outlines
  };
  [[nodiscard]] Batch& next_batch() { return batches_[enqueued_ % 2]; }
  void clear_next();
  /// Correlates what was added, which warp_all(image, frames, unit_input) warps. Returns whether
  /// overlaps follow from outlines, and are not stored.
  template <class WarpAll>
  bool correlate_batch(const PairContext& work, const Compared& compared, bool stores_overlaps,
                       WarpAll warp_all);
  /// Enqueues the rotations of the next batch, if there are any.
  void compare(const PairContext& work, const Compared& compared);
  void find_peaks(Stream& stream, bool by_outlines);
  /// Takes the peaks of the oldest enqueued batch, if there is one.
  void take_next();
  /// Returns the warp from levels of a shape to the padded frame.
  const WarpPlan& warp_of(const Shape& shape, std::int64_t slices, bool unit_input);
  /// The same by any plane's transform, of one image.
  const InterpolatePlan& plane_warp_of(const Shape& shape);
  /// The linear map from offsets in the reference's level to offsets in the moving image's level.
  [[nodiscard]] static Affine linear_between_levels(const Compared& compared, double rotation_deg,
                                                    double scale);
  [[nodiscard]] OverlapLimits overlap_limits(const Compared& compared,
                                             const KnownRotationScale& known,
                                             const Affine& linear) const;
  [[nodiscard]] Peaks peaks_of(const PeakRecord* records, const Batch& batch,
                               const Affine& linear) const;

  struct WarpKey {
    Shape level;
    std::int64_t slices;
    bool unit_input;
    friend bool operator==(const WarpKey&, const WarpKey&) = default;
  };

  /// The additional state for gradient orientation. Orientation fields are computed from the warped
  /// frames, in which the moving image is already rotated as on the reference, so that the
  /// orientations need no rotation.
  struct FieldFrames {
    FieldFrames(const Device& device, const Shape& frame, const Shape& frames);
    DoubleAnglePlan plan;
    std::vector<DoubleAngleTerms> terms;  ///< one per frame
    OverlapProductsPlan products;
    Image cosines, sines;  // of the frames of the moving image
    Image reference_second, moving_seconds;
    GradientFields::Statistics of_reference, of_moving;
  };

  /// Overlaps as images, for pairs whose overlaps do not follow from the outlines, and their peaks.
  struct StoredOverlaps {
    StoredOverlaps(const Device& device, const Shape& frame, std::int64_t batch);
    OverlapCountsPlan counts;
    OverlapPeaksPlan peaks;
    Image overlaps;
  };

  Device device_;
  Shape frame_, frames_;  ///< of one image; of a batch
  std::optional<FieldFrames> fields_;
  RealFftPlan fft_, fft_batch_, fft_surfaces_;
  OverlapProductsPlan products_;
  std::optional<StoredOverlaps> stored_;  ///< created for the first pair that needs it
  /// On devices for which uses_outlines() is true.
  std::optional<OverlapPeaksPlan> outlined_peaks_;
  PlanCache<WarpKey, WarpPlan> warps_{2 * max_searched_levels};
  PlanCache<Shape, InterpolatePlan> plane_warps_{4};
  Image warped_reference_, warped_, warped_weights_;
  Image reference_spectrum_, reference_weight_;  ///< reference_weight_: only for a masked reference
  Image moving_spectra_;                         ///< of the images, then of their weights if needed
  Image products_image_, surfaces_;
  Buffer records_;
  // Two batches alternate: the device compares one while the host takes the peaks of the other.
  std::array<Readback<PeakRecord>, 2> readbacks_;
  std::array<Batch, 2> batches_;
  std::size_t enqueued_ = 0, taken_ = 0;  ///< counts of batches
  std::vector<Affine> frames_to_moving_;  ///< one per rotation of the next batch
  std::vector<OverlapLimits> limits_;     ///< one per rotation of the next batch
  std::vector<OverlapOutline> outlines_;  ///< one per rotation of the next batch
  std::vector<Peaks> peaks_;
  std::array<PeakRecord, 2> first_records_{};  ///< of the batch that was taken last
  OtherMaxima other_maxima_;
};

}  // namespace warpalign::detail
