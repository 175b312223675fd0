// Gauss-Newton estimation of the parameters of a transform between two images: up to four of a
// similarity, six of an affine transform, or eight of a homography.
#pragma once

#include "registration/fitting/fit_options.hpp"
#include "registration/fitting/fit_pair.hpp"
#include "registration/fitting/fit_steps.hpp"
#include "registration/fitting/resident_fits.hpp"
#include "registration/pyramid/base_scales.hpp"
#include "registration/resources/plan_cache.hpp"
#include "registration/resources/stage_clock.hpp"

#include <warpalign/backend/stages/refinement/illumination.hpp>
#include <warpalign/backend/stages/refinement/similarity_sums.hpp>

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Fits pairs of images; keeps plans and memory for their shapes between calls.
class SimilarityFit {
 public:
  explicit SimilarityFit(const Device& device);
  /// `resident`: whether fits together stay on the device where ResidentFits serves them.
  SimilarityFit(const Device& device, bool resident);
  SimilarityFit(const SimilarityFit&) = delete;
  SimilarityFit& operator=(const SimilarityFit&) = delete;
  ~SimilarityFit();

  using Pair = FitPair;
  using Group = FitGroup;

  /// `known`: the result of evaluate() at `start`, if it is known already. Returns nothing where
  /// the images have too little in common, the fit diverges, or its homography maps a point of the
  /// reference to infinity. Waits for the device.
  std::optional<FitResult> fit(Stream& stream, StageClock& clock, const Pair& pair,
                               const Homography& start, const FitOptions& options,
                               const SimilaritySumsResult* known = nullptr);

  /// The same from several starts of several pairs, all without a local illumination model: one
  /// result for each, in the order of the groups. What has ended drops out while the others go on.
  /// The device is waited for once a step, or every few steps where the fits stay on it. The
  /// results are valid until the next call.
  std::span<const FitSteps> fit_together(Stream& stream, StageClock& clock,
                                         std::span<const Group> starts, const FitOptions& options);

  /// The sums at `matrix`, with equal weight for all pixels; those for a homography unless it is
  /// affine. Waits for the device.
  SimilaritySumsResult evaluate(Stream& stream, StageClock& clock, const Pair& pair,
                                const Homography& matrix);

  /// The same at several transforms of several pairs, those for a homography unless all of a group
  /// are affine. Waits once. The results are valid until the next call.
  std::span<const SimilaritySumsResult> evaluate_together(Stream& stream, StageClock& clock,
                                                          std::span<const Group> groups);

  /// evaluate() under the local illumination model of `options`.
  SimilaritySumsResult evaluate_under_illumination(Stream& stream, StageClock& clock,
                                                   const Pair& pair, const Homography& matrix,
                                                   const FitOptions& options);

 private:
  struct Plans {
    SimilaritySumsPlan sums;
    std::optional<IlluminationPlan> illumination;
    std::optional<Image> field;
  };
  /// Sums that are asked for: at so many of states_, after those of the requests before.
  struct Request {
    const SimilaritySumsPlan* plan;
    const SimilarityImages* images;
    std::size_t states;
  };
  /// The fits of a group that go on.
  struct Running {
    const Pair* pair;
    std::vector<FitSteps*> fits;
  };
  /// Begins to collect requests.
  void begin_requests();
  /// Asks for the sums at the states that were added to states_ since the last request.
  void request(const SimilaritySumsPlan& plan, const SimilarityImages& images);
  /// Asks for the sums at transforms with equal weight for all pixels, of each channel in turn.
  void request_at(const Pair& pair, std::span<const Homography> matrices);
  /// Answers all requests: the sums at states_, in sums_. Waits once.
  void answer(Stream& stream, StageClock& clock);
  /// Calls use(fit, sums of the first channel, those of a second one or null) for the fits that go
  /// on, whose sums were requested group by group and channel by channel.
  template <class Use>
  void for_each_answer(Use use);
  void set_fits(std::span<const Group> starts, const FitOptions& options);
  void begin_fits(Stream& stream, StageClock& clock, std::span<const Group> starts);
  void take_step(Stream& stream, StageClock& clock, bool projective);
  Plans& plans_of(const Pair& pair, int illumination_cell, bool projective);
  void estimate_illumination(Stream& stream, StageClock& clock, const Pair& pair,
                             const Homography& matrix, const GlobalIllumination& global,
                             double noise, Plans& plans);

  Device device_;
  PlanCache<SimilaritySumsSpec, Plans> plans_{max_searched_levels};
  std::optional<ResidentFits> resident_;

  // Of fits that go on together; members so that their memory is reused.
  std::vector<FitSteps> fits_;
  std::vector<Running> running_;
  std::vector<Homography> starts_;
  std::vector<Request> requests_;
  std::size_t requested_ = 0;  ///< how many of states_ the requests ask for
  std::vector<SimilarityState> states_;
  std::vector<SimilaritySumsResult> sums_;
  std::unique_ptr<Results<float>> partials_;
};

/// The normalized correlation of the pixels in the sums; 0 where either image does not vary.
[[nodiscard]] double correlation_of(const SimilaritySumsResult& sums);

/// The mean square of the moving image's slope along an axis, where all pixels have equal weight.
[[nodiscard]] double mean_square_slope(const SimilaritySumsResult& sums);

}  // namespace warpalign::detail
