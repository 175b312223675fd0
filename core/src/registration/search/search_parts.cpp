// The parts of a search that may be done beside the rest of it.
#include "registration/search/search_parts.hpp"

namespace warpalign::detail {

namespace {

constexpr std::int64_t wide_side = 256;
// In small or noisy pairs the right one is far down the list.
constexpr std::size_t wide_hypotheses = 40;

template <class Found>
void keep(std::span<const Found> found, std::vector<Found>& kept) {
  kept.assign(found.begin(), found.end());
}

}  // namespace

GridPart::GridPart(const Device& device, const RegistrationOptions& options, bool may_be_helped)
    : device_(device),
      options_(options),
      may_be_helped_(may_be_helped),
      ones_(device, max_searched_levels) {}

void GridPart::search(const PairWork& pair, int /*step*/) {
  if (!search_) {
    search_.emplace(device_, options_, ones_,
                    options_.search == Effort::thorough ? fine_grid : standard_grid, nullptr,
                    may_be_helped_);
  }
  found_ = search_->find(pair, places_of_grid(options_));
}

WideLogPolarPart::Searches::Searches(const Device& device, const RegistrationOptions& options,
                                     Ones& ones)
    : shifts(device, ones), log_polar(device, wide_side, options, shifts) {}

WideLogPolarPart::WideLogPolarPart(const Device& device, const RegistrationOptions& options)
    : device_(device), options_(options), ones_(device, max_searched_levels) {}

void WideLogPolarPart::search(const PairWork& pair, int step) {
  if (!searches_) searches_.emplace(device_, options_, ones_);
  LogPolarSearch& log_polar = searches_->log_polar;
  if (step == 0) {
    log_polar.begin(pair);
    log_polar.add_other_bases(pair);
    keep(log_polar.first(pair), first_);
  } else {
    keep(log_polar.others(pair, wide_hypotheses), others_);
  }
}

WindowPart::WindowPart(const Device& device, const RegistrationOptions& options, Compares compares,
                       bool may_be_helped)
    : device_(device),
      options_(options),
      by_edges_(compares == Compares::edges),
      may_be_helped_(may_be_helped),
      ones_(device, max_searched_levels),
      edge_strength_(device) {}

void WindowPart::search(const PairWork& pair, int step) {
  if (!search_) {
    search_.emplace(device_, options_, ones_, by_edges_ ? edge_windows : coarse_windows,
                    may_be_helped_);
  }
  if (by_edges_) return search_edges(pair);
  if (step == 0) {
    keep(search_->find(pair), found_);
  } else {
    keep(search_->find_stretched(pair), of_stretched_);
  }
}

void WindowPart::search_edges(const PairWork& pair) {
  found_.clear();
  const std::optional<PairWork> edges = edge_strength_.of(pair);
  if (!edges) return;
  keep(search_->find(*edges), found_);
  for (AgreedHomography& agreed : found_) agreed.matrix = edge_strength_.to_images(agreed.matrix);
}

void FeaturePart::search(const PairWork& pair, int /*step*/) {
  if (!search_) search_.emplace(device_, may_be_helped_);
  found_ = search_->find(pair);
}

}  // namespace warpalign::detail
