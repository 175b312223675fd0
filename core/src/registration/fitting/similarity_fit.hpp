// Gauss-Newton estimation of a transform between two images: up to four parameters of a similarity,
// six of an affine transform, or eight of a homography.
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

/// Fits transforms to pairs of images. Caches plans and memory by image shape.
class SimilarityFit {
 public:
  explicit SimilarityFit(const Device& device);
  /// `resident`: whether fit_together() uses ResidentFits for the pairs that it supports.
  SimilarityFit(const Device& device, bool resident);
  SimilarityFit(const SimilarityFit&) = delete;
  SimilarityFit& operator=(const SimilarityFit&) = delete;
  ~SimilarityFit();

  using Pair = FitPair;
  using Group = FitGroup;

  /// `known`: the result of evaluate() at `start`, if available. Returns nothing if the overlap is
  /// too small, the fit diverges, or its homography maps a point of the reference to infinity.
  /// Waits for the device.
  std::optional<FitResult> fit(Stream& stream, StageClock& clock, const Pair& pair,
                               const Homography& start, const FitOptions& options,
                               const SimilaritySumsResult* known = nullptr);

  /// Fits from several starts of several pairs at once, without a local illumination model. Returns
  /// one result for each start, in the order of the groups, valid until the next call. Waits for
  /// the device once a step, or every few steps with ResidentFits.
  std::span<const FitSteps> fit_together(Stream& stream, StageClock& clock,
                                         std::span<const Group> starts, const FitOptions& options);

  /// The sums at `matrix` with unit weights: of a homography's parameters unless `matrix` is
  /// affine. Waits for the device.
  SimilaritySumsResult evaluate(Stream& stream, StageClock& clock, const Pair& pair,
                                const Homography& matrix);

  /// The sums at several transforms of several pairs: of a homography's parameters unless all
  /// transforms of a group are affine. Waits once. The results are valid until the next call.
  std::span<const SimilaritySumsResult> evaluate_together(Stream& stream, StageClock& clock,
                                                          std::span<const Group> groups);

  /// Like evaluate(), but under the local illumination model of `options`.
  SimilaritySumsResult evaluate_under_illumination(Stream& stream, StageClock& clock,
                                                   const Pair& pair, const Homography& matrix,
                                                   const FitOptions& options);

 private:
  struct Plans {
    SimilaritySumsPlan sums;
    std::optional<IlluminationPlan> illumination;
    std::optional<Image> field;
  };
  /// A request for sums at the next `states` entries of states_.
  struct Request {
    const SimilaritySumsPlan* plan;
    const SimilarityImages* images;
    std::size_t states;
  };
  /// The active fits of a group.
  struct Running {
    const Pair* pair;
    std::vector<FitSteps*> fits;
  };
  /// Clears the requests.
  void begin_requests();
  /// Requests the sums at the states that were added to states_ since the last request.
  void request(const SimilaritySumsPlan& plan, const SimilarityImages& images);
  /// Requests the sums at transforms with unit weights, channel by channel.
  void request_at(const Pair& pair, std::span<const Homography> matrices);
  /// Computes the sums at states_ into sums_. Waits once.
  void compute_requests(Stream& stream, StageClock& clock);
  /// Calls use(fit, sums of the first channel, sums of the second channel or null) for each active
  /// fit. The sums must have been requested group by group and channel by channel.
  template <class Use>
  void for_each_running(Use use);
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

  // Intermediate results of fit_together(); members so that their memory is reused.
  std::vector<FitSteps> fits_;
  std::vector<Running> running_;
  std::vector<Homography> starts_;
  std::vector<Request> requests_;
  std::size_t requested_ = 0;  ///< the number of states_ that are in requests
  std::vector<SimilarityState> states_;
  std::vector<SimilaritySumsResult> sums_;
  std::unique_ptr<Results<float>> partials_;
};

/// The normalized correlation of the pixels in the sums; 0 if either image is constant.
[[nodiscard]] double correlation_of(const SimilaritySumsResult& sums);

/// The mean square of the moving image's slope along an axis, for sums with unit weights.
[[nodiscard]] double mean_square_slope(const SimilaritySumsResult& sums);

}  // namespace warpalign::detail
