// Proposes homographies that patches of the reference agree on.
#include "registration/proposers/patch_proposer.hpp"

#include "registration/proposers/edge_strength.hpp"
#include "registration/proposers/patch_search.hpp"

#include <optional>

namespace warpalign::detail {

namespace {

// Returns the convincing homography with the highest significance.
std::optional<Homography> best_homography(std::span<const Candidate> candidates) {
  const Candidate* best = nullptr;
  for (const Candidate& candidate : candidates) {
    if (candidate.motion != Motion::homography || !is_convincing(candidate)) continue;
    if (best == nullptr || candidate.significance > best->significance) best = &candidate;
  }
  return best != nullptr ? std::optional(best->richer) : std::nullopt;
}

Candidate proposal(const Homography& homography) {
  Candidate candidate;
  candidate.proposed_by = SearchMethod::patches;
  candidate.motion = Motion::homography;
  candidate.richer = homography;
  return candidate;
}

class PatchProposer : public Proposer {
 public:
  PatchProposer(const Device& device, const RegistrationOptions& options, const PatchGrid& cover)
      : device_(device), options_(options), cover_(cover) {}

  void propose(const PairContext& context, int round, std::span<const Candidate> /*known*/,
               std::vector<Candidate>& proposals) override {
    add(round == 0 ? search().find(context) : search().find_tilted(context), proposals);
  }

 protected:
  PatchSearch& search() {
    if (!search_) search_.emplace(device_, options_, cover_);
    return *search_;
  }
  static void add(std::span<const HomographyHypothesis> found, std::vector<Candidate>& proposals) {
    for (const HomographyHypothesis& agreed : found) proposals.push_back(proposal(agreed.matrix));
  }

 private:
  Device device_;
  const RegistrationOptions& options_;
  const PatchGrid& cover_;
  std::optional<PatchSearch> search_;  // created for the first pair that needs it
};

class EdgePatchProposer final : public PatchProposer {
 public:
  EdgePatchProposer(const Device& device, const RegistrationOptions& options)
      : PatchProposer(device, options, edge_patch_grid), edge_strength_(device) {}

  void propose(const PairContext& context, int /*round*/, std::span<const Candidate> /*known*/,
               std::vector<Candidate>& proposals) override {
    PatchSearch& patches = search();
    const std::optional<PairContext> edges = edge_strength_.of(context);
    if (!edges) return;
    for (const HomographyHypothesis& agreed : patches.find(*edges)) {
      proposals.push_back(proposal(edge_strength_.to_images(agreed.matrix)));
    }
  }

 private:
  EdgeStrength edge_strength_;
};

class FinePatchProposer final : public PatchProposer {
 public:
  FinePatchProposer(const Device& device, const RegistrationOptions& options)
      : PatchProposer(device, options, fine_patch_grid) {}

  void propose(const PairContext& context, int round, std::span<const Candidate> known,
               std::vector<Candidate>& proposals) override {
    if (round > 0) return PatchProposer::propose(context, round - 1, known, proposals);
    const std::optional<Homography> best = best_homography(known);
    if (best) add(search().find_along(context, *best), proposals);
  }
};

}  // namespace

std::unique_ptr<Proposer> make_patches(const Device& device, const RegistrationOptions& options) {
  return std::make_unique<PatchProposer>(device, options, coarse_patch_grid);
}
std::unique_ptr<Proposer> make_edge_patches(const Device& device,
                                            const RegistrationOptions& options) {
  return std::make_unique<EdgePatchProposer>(device, options);
}
std::unique_ptr<Proposer> make_fine_patches(const Device& device,
                                            const RegistrationOptions& options) {
  return std::make_unique<FinePatchProposer>(device, options);
}

}  // namespace warpalign::detail
