// Fits homographies to a pair whose moving image is warped to the reference's frame.
#include "registration/search/rectified_fit.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/pair/candidate_set.hpp"
#include "registration/pair/registration_result.hpp"

namespace warpalign::detail {

std::optional<Candidate> RectifiedFit::fit(const PairContext& context, const Candidate& proposal,
                                           double trials, std::span<const Candidate> candidates) {
  const Shape& reference = context.reference.shape();
  const Shape& moving = context.moving.shape();
  const auto rectified = in_frame_.show(context, proposal.richer);
  if (!rectified) return std::nullopt;
  auto candidate = selection_.fit_near(*rectified, Homography{});
  if (!candidate) return std::nullopt;
  candidate->proposed_by = proposal.proposed_by;
  evaluator_.test(*rectified, {&*candidate, 1}, trials);
  candidate->richer = scaled(proposal.richer * candidate->richer);
  if (!is_regular(candidate->richer, reference)) return std::nullopt;
  candidate->matrix = alignment_of(Motion::homography, candidate->richer, reference, moving)
                          .similarity.matrix(reference, moving);
  if (!evaluator_.is_allowed(context, *candidate)) return std::nullopt;
  set_second_best_ratio(context, candidates, *candidate);
  return candidate;
}

}  // namespace warpalign::detail
