// The translation between two pyramid levels whose rotation and scale are known, by normalized
// correlation over their overlap.
#pragma once

#include "device/readback.hpp"
#include "registration/numerics/plane_geometry.hpp"
#include "registration/pair/context.hpp"
#include "registration/proposers/shift_surface.hpp"
#include "registration/pyramid/base_scales.hpp"
#include "registration/resources/plan_cache.hpp"
#include "registration/signal/gradient_fields.hpp"
#include "registration/signal/signal_kind.hpp"

#include <warpalign/backend/stages/spectrum/overlap_correlation.hpp>
#include <warpalign/backend/stages/spectrum/overlap_counts.hpp>
#include <warpalign/backend/stages/spectrum/peak.hpp>
#include <warpalign/backend/stages/spline/warp.hpp>
#include <warpalign/stages/fft.hpp>

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// A peak of the correlation: where the moving image lies on the reference.
struct TranslationPeak {
  Affine matrix;     ///< reference pixels -> moving pixels
  double score = 0;  ///< height of the peak; of the order of 1 for unrelated images
};

/// The rotations and the scale of which the translation is sought.
struct KnownRotationScale {
  std::span<const double> rotations_deg;
  double scale = 1;      ///< of the moving image's content relative to the reference's
  double base = 1;       ///< a scale near it, which chooses the levels that are compared
  double max_shift = 0;  ///< the farthest that the images' centres may be apart, in pixels of the
                         ///< moving image; 0: any
};

class TranslationSearch {
 public:
  /// The peak for a rotation [0] and for 180 degrees more [1].
  using Peaks = std::array<TranslationPeak, 2>;

  /// How many rotations to compare at once on padded frames of a side, where `most` fill a GPU.
  [[nodiscard]] static std::int64_t batch_on(const Device& device, std::int64_t side,
                                             std::int64_t most);

  /// `side` is the side of the padded frame: reference and moving image are compared at levels that
  /// fit in it side by side. `batch`: how many rotations are compared at once. `signal`:
  /// what find() compares, intensity or orientation.
  TranslationSearch(const Device& device, std::int64_t side, std::int64_t batch = 1,
                    SignalKind signal = SignalKind::intensity);

  /// The peaks at each of the rotations of each element of `known`, in their order. Consecutive
  /// elements whose bases are the same share the reference's transform, and batches. Waits for the
  /// device. The result is valid until the next call; it may be shorter once a stop is asked for.
  std::span<const Peaks> find(const PairContext& work, std::span<const KnownRotationScale> known);
  /// The correlation at every shift of the moving image, after `transform` (reference pixels ->
  /// moving pixels) has brought it to the reference's frame; by a search of a batch of 1.
  /// `similarity`: about the same transform. Waits for the device. The result is valid until the
  /// next call.
  [[nodiscard]] ShiftSurface correlate_all(const PairContext& work, const Affine& similarity,
                                           const Homography& transform);

 private:
  /// The levels that are compared.
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
  /// Begins what all bases need to know of their levels' fields, so that the first of them waits
  /// for all: if each waited for its own, the device would be idle as often.
  void measure_fields(const PairContext& work, std::span<const KnownRotationScale> known);
  /// Prepares the comparison of what has a base.
  [[nodiscard]] Compared begin(const PairContext& work, double base);
  /// Adds a rotation to the batch that is compared next.
  void add(const Compared& compared, double rotation_deg, double scale,
           const OverlapLimits& limits);
  void add(const Compared& compared, const Affine& linear, const OverlapLimits& limits);
  void transform_reference(const PairContext& work, PyramidLevel& level);
  void transform_moving(Stream& stream, StageClock& clock, std::span<const Affine> linear);
  void transform_fields(Stream& stream, StageClock& clock, std::span<const Affine> linear);
  void correlate(Stream& stream, StageClock& clock);
  void find_overlaps(Stream& stream, StageClock& clock, const PyramidLevel& reference,
                     const Image& weights);
  /// A batch of rotations that the device compares, until its peaks are taken.
  struct Batch {
    Point reference_centre{}, moving_centre{};     ///< of the levels, in their pixels
    Affine from_reference_image, to_moving_image;  ///< to and from the levels
    std::vector<Affine> linear;                    ///< of the rotations
  };
  [[nodiscard]] Batch& next_batch() { return batches_[enqueued_ % 2]; }
  void clear_next();
  /// Correlates what was added, which warp_all(image, frames, of_ones) warps. Returns whether
  /// overlaps follow from outlines, and are not stored.
  template <class WarpAll>
  bool correlate_batch(const PairContext& work, const Compared& compared, bool stores_overlaps,
                       WarpAll warp_all);
  /// Compares what was added, if anything was.
  void compare(const PairContext& work, const Compared& compared);
  void find_peaks(Stream& stream, bool by_outlines);
  /// Takes the peaks of the batch that was enqueued first of those whose peaks were not, if any.
  void take_next();
  /// The warp from levels of a shape to the padded frame.
  const WarpPlan& warp_of(const Shape& shape, std::int64_t slices, bool of_ones);
  /// The same by any plane's transform, of one image.
  const InterpolatePlan& plane_warp_of(const Shape& shape);
  [[nodiscard]] OverlapLimits overlap_limits(const Compared& compared,
                                             const KnownRotationScale& known) const;
  [[nodiscard]] Peaks peaks_of(const PeakRecord* records, const Batch& batch,
                               const Affine& linear) const;

  struct WarpKey {
    Shape level;
    std::int64_t slices;
    bool of_ones;
    friend bool operator==(const WarpKey&, const WarpKey&) = default;
  };

  /// What directions of edges need beside grey levels. A field is taken of the frames, where the
  /// moving image is turned as it will be on the reference, so that no direction needs to be.
  struct FieldFrames {
    FieldFrames(const Device& device, const Shape& frame, const Shape& frames);
    DoubleAnglePlan plan;
    std::vector<DoubleAngleTerms> terms;  ///< of the frames
    OverlapProductsPlan products;
    Image cosines, sines;  // of the moving image's frames
    Image reference_second, moving_seconds;
    GradientFields::Statistics of_reference, of_moving;
  };

  /// Overlaps that do not follow from the levels' outlines, and what scores by them.
  struct StoredOverlaps {
    StoredOverlaps(const Device& device, const Shape& frame, std::int64_t batch);
    OverlapCountsPlan counts;
    OverlapPeaksPlan peaks;
    Image overlaps;
  };

  Device device_;
  Shape frame_, frames_;  ///< of one image and of a batch
  std::optional<FieldFrames> fields_;
  RealFftPlan fft_, fft_batch_, fft_surfaces_;
  OverlapProductsPlan products_;
  std::optional<StoredOverlaps> stored_;            ///< made when a pair first needs it
  std::optional<OverlapPeaksPlan> outlined_peaks_;  ///< on devices that take outlines
  PlanCache<WarpKey, WarpPlan> warps_{2 * max_searched_levels};
  PlanCache<Shape, InterpolatePlan> plane_warps_{4};
  Image warped_reference_, warped_, warped_weights_;
  Image reference_spectrum_, reference_weight_;  ///< the latter of a masked reference alone
  Image moving_spectra_;  ///< of the images, then of their weights if they are needed
  Image products_image_, surfaces_;
  Buffer records_;
  // Two batches take turns: while the device compares one, the peaks of the other are taken.
  std::array<Readback<PeakRecord>, 2> readbacks_;
  std::array<Batch, 2> batches_;
  std::size_t enqueued_ = 0, taken_ = 0;  ///< numbers of batches
  std::vector<Affine> frames_to_moving_;  ///< of the rotations of the next batch
  std::vector<OverlapLimits> limits_;     ///< likewise
  std::vector<OverlapOutline> outlines_;  ///< likewise
  std::vector<Peaks> peaks_;
  std::vector<float> correlations_, overlaps_;  // of correlate_all()
};

}  // namespace warpalign::detail
