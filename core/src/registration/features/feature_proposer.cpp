// Proposes homographies from local features.
#include "registration/features/feature_proposer.hpp"

#include "registration/features/feature_search.hpp"

namespace warpalign::detail {

namespace {

class FeatureProposer final : public Proposer {
 public:
  explicit FeatureProposer(const Device& device) : search_(device) {}

  void propose(const PairContext& context, int /*round*/, std::span<const Candidate> /*known*/,
               std::vector<Candidate>& proposals) override {
    for (const Homography& homography : search_.find(context)) {
      Candidate candidate;
      candidate.proposed_by = SearchMethod::features;
      candidate.motion = Motion::homography;
      candidate.richer = homography;
      proposals.push_back(candidate);
    }
  }

 private:
  FeatureSearch search_;
};

}  // namespace

std::unique_ptr<Proposer> make_features(const Device& device,
                                        const RegistrationOptions& /*options*/) {
  return std::make_unique<FeatureProposer>(device);
}

}  // namespace warpalign::detail
