// The parts of a search that may be done beside the rest of it.
#pragma once

#include "registration/features/feature_search.hpp"
#include "registration/pair/search_part.hpp"
#include "registration/proposers/edge_strength.hpp"
#include "registration/proposers/grid_search.hpp"
#include "registration/proposers/log_polar_search.hpp"
#include "registration/proposers/window_search.hpp"

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The grid of rotations and scales, by grey levels.
class GridPart {
 public:
  /// `may_be_helped`: whether it may be searched by several threads.
  GridPart(const Device& device, const RegistrationOptions& options, bool may_be_helped);

  void search(const PairWork& pair, int step);
  [[nodiscard]] std::span<const TranslationPeak> found(int /*step*/) const { return found_; }

 private:
  Device device_;
  RegistrationOptions options_;
  bool may_be_helped_;
  Ones ones_;
  std::optional<GridSearch> search_;  // created when a pair first needs it
  std::span<const TranslationPeak> found_;
};

/// Log-polar spectra on frames twice as wide as those that a search begins with. In the first step
/// LogPolarSearch::first(), in the second one others().
class WideLogPolarPart {
 public:
  WideLogPolarPart(const Device& device, const RegistrationOptions& options);

  void search(const PairWork& pair, int step);
  [[nodiscard]] std::span<const Candidate> found(int step) const {
    return step == 0 ? first_ : others_;
  }

 private:
  struct Searches {
    Searches(const Device& device, const RegistrationOptions& options, Ones& ones);
    TranslationSearches shifts;
    LogPolarSearch log_polar;
  };
  Device device_;
  RegistrationOptions options_;
  Ones ones_;
  std::optional<Searches> searches_;  // likewise
  std::vector<Candidate> first_, others_;
};

/// Homographies that windows agree on, by grey levels or by the strength of edges. In the first
/// step WindowSearch::find(), in the second one find_stretched().
class WindowPart {
 public:
  enum class Compares { grey_levels, edges };
  /// `may_be_helped`: whether it may be searched by two threads.
  WindowPart(const Device& device, const RegistrationOptions& options, Compares compares,
             bool may_be_helped);

  void search(const PairWork& pair, int step);
  [[nodiscard]] std::span<const AgreedHomography> found(int step) const {
    return step == 0 ? found_ : of_stretched_;
  }

 private:
  void search_edges(const PairWork& pair);

  Device device_;
  RegistrationOptions options_;
  bool by_edges_, may_be_helped_;
  Ones ones_;
  EdgeStrength edge_strength_;
  std::optional<WindowSearch> search_;  // likewise
  std::vector<AgreedHomography> found_, of_stretched_;
};

/// Homographies that local features agree on.
class FeaturePart {
 public:
  /// `may_be_helped`: whether it may be searched by two threads.
  FeaturePart(const Device& device, bool may_be_helped)
      : device_(device), may_be_helped_(may_be_helped) {}

  void search(const PairWork& pair, int step);
  [[nodiscard]] std::span<const Homography> found(int /*step*/) const { return found_; }

 private:
  Device device_;
  bool may_be_helped_;
  std::optional<FeatureSearch> search_;  // likewise
  std::span<const Homography> found_;
};

}  // namespace warpalign::detail
