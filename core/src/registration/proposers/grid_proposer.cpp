// Proposes the best poses of a grid of rotations and scales.
#include "registration/proposers/grid_proposer.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/pair/search_limits.hpp"
#include "registration/proposers/grid_search.hpp"

#include <algorithm>

namespace warpalign::detail {

namespace {

class GridProposer final : public Proposer {
 public:
  GridProposer(const Device& device, const RegistrationOptions& options, const GridSteps& steps,
               SignalKind signal)
      : options_(options), signal_(signal), search_(device, options, steps, signal) {}

  void propose(const PairContext& context, int /*round*/, std::span<const Candidate> /*known*/,
               std::vector<Candidate>& proposals) override {
    const bool by_orientation = signal_ == SignalKind::orientation;
    const auto found = search_.find(context, max_grid_proposals(options_));
    peaks_.assign(found.begin(), found.end());
    if (by_orientation) {
      std::sort(peaks_.begin(), peaks_.end(),
                [](const TranslationPeak& a, const TranslationPeak& b) {
                  return scale_of(a.matrix) < scale_of(b.matrix);
                });
    }
    for (const TranslationPeak& peak : peaks_) {
      Candidate candidate;
      candidate.proposed_by =
          by_orientation ? SearchMethod::gradient_orientation : SearchMethod::grid;
      candidate.by_orientation = by_orientation;
      candidate.matrix = start_of(context, options_.motion, peak.matrix);
      candidate.shift_score = peak.score;
      proposals.push_back(candidate);
    }
  }

 private:
  const RegistrationOptions& options_;
  SignalKind signal_;
  GridSearch search_;
  std::vector<TranslationPeak> peaks_;
};

bool is_thorough(const RegistrationOptions& options) { return options.search == Effort::thorough; }

}  // namespace

std::unique_ptr<Proposer> make_intensity_grid(const Device& device,
                                              const RegistrationOptions& options) {
  const GridSteps& steps = is_thorough(options) ? fine_grid : standard_grid;
  return std::make_unique<GridProposer>(device, options, steps, SignalKind::intensity);
}

// Orientation correlates in a smaller neighbourhood of the right pose than intensity does. From a
// pose of the standard grid, refinement by orientation often converges to a wrong pose.
std::unique_ptr<Proposer> make_orientation_grid(const Device& device,
                                                const RegistrationOptions& options) {
  const GridSteps& steps = is_thorough(options) ? fine_grid : orientation_grid;
  return std::make_unique<GridProposer>(device, options, steps, SignalKind::orientation);
}

}  // namespace warpalign::detail
