// The shifts of hypotheses of rotation and scale.
#include "registration/proposers/translation_searches.hpp"

namespace warpalign::detail {

namespace {

// Of the padded frames.
constexpr std::int64_t side = 512;
// How many shifts are looked for at once where many are, in 70 MB of memory. About as many
// hypotheses have the same base scale.
constexpr std::int64_t most_at_once = 6;

}  // namespace

TranslationSearches::TranslationSearches(const Device& device, Ones& ones)
    : device_(device), ones_(ones), one_(device, side, ones) {}

TranslationSearch& TranslationSearches::of(std::size_t hypotheses) {
  const std::int64_t at_once = TranslationSearch::batch_on(device_, side, most_at_once);
  if (hypotheses <= 1 || at_once == 1) return one_;
  if (!many_) many_.emplace(device_, side, ones_, at_once);
  return *many_;
}

}  // namespace warpalign::detail
