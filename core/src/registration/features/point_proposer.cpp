// Proposes the transform on which the point sources of sparse images agree.
#include "registration/features/point_proposer.hpp"

#include "registration/pair/search_limits.hpp"
#include "registration/points/point_matching.hpp"

namespace warpalign::detail {

namespace {

// Found scales may leave the range by as much as within_limits() allows.
constexpr double scale_slack = 1.03;

class PointProposer final : public Proposer {
 public:
  explicit PointProposer(const RegistrationOptions& options) : options_(options) {}

  void propose(const PairContext& context, int /*round*/, std::span<const Candidate> /*known*/,
               std::vector<Candidate>& proposals) override {
    const auto found =
        matching_.match(context.reference.points(), context.reference.shape(),
                        context.moving.points(), context.moving.shape(), motion(context));
    if (!found) return;
    Candidate candidate;
    candidate.proposed_by = SearchMethod::points;
    candidate.matrix = found->matrix;
    candidate.refined = true;
    candidate.points = found;
    proposals.push_back(candidate);
  }

 private:
  [[nodiscard]] PointMotion motion(const PairContext& context) const {
    PointMotion motion;
    motion.rotates = options_.motion != Motion::translation;
    motion.scales = motion.rotates && options_.motion != Motion::rigid;
    motion.min_scale = options_.min_scale / scale_slack;
    motion.max_scale = options_.max_scale * scale_slack;
    if (options_.max_shift > 0 || options_.max_angle - options_.min_angle < 360) {
      motion.allows = [this, &context](const Affine& matrix) {
        return within_limits(options_, context, matrix);
      };
    }
    return motion;
  }

  const RegistrationOptions& options_;
  PointMatching matching_;
};

}  // namespace

std::unique_ptr<Proposer> make_points(const Device& /*device*/,
                                      const RegistrationOptions& options) {
  return std::make_unique<PointProposer>(options);
}

}  // namespace warpalign::detail
