// The shifts of hypotheses of rotation and scale.
#pragma once

#include "registration/proposers/translation_search.hpp"
#include "registration/resources/ones.hpp"

#include <cstddef>
#include <optional>

namespace warpalign::detail {

/// Looks for the shifts of one hypothesis or, with memory that is taken when they first come, for
/// those of many at once.
class TranslationSearches {
 public:
  TranslationSearches(const Device& device, Ones& ones);

  /// A search that suits the number of hypotheses.
  [[nodiscard]] TranslationSearch& of(std::size_t hypotheses);

 private:
  Device device_;
  Ones& ones_;
  TranslationSearch one_;
  std::optional<TranslationSearch> many_;
};

}  // namespace warpalign::detail
