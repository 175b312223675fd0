// Finds other shifts at which two images match nearly as well as at a candidate's pose.
#pragma once

#include "registration/numerics/shift_surface.hpp"
#include "registration/pair/candidate.hpp"
#include "registration/pair/context.hpp"
#include "registration/proposers/translation_search.hpp"
#include "registration/resources/other_maxima.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace warpalign::detail {

/// The shifts at which the images match about as well as at a candidate's pose. Shifts move the
/// moving image's content on the reference, in its pixels: at `shift`, the transform is that of the
/// candidate after a translation by -shift.
struct Alternatives {
  struct Alternative {
    Point shift;
    double ratio = 0;  ///< of its score and of the candidate's
  };
  double ratio = 0;  ///< the score of the best alternative as a fraction of the candidate's
  std::vector<Alternative> maxima;  ///< local maxima of the score, the highest first
  std::optional<Point> along;  ///< the unit vector along which the score hardly falls, if it does
};

/// Used by one thread at a time.
class AlternativeSearch {
 public:
  explicit AlternativeSearch(const Device& device) : device_(device) {}

  /// Whether the options allow a shift.
  using IsAllowed = std::function<bool(Point shift)>;

  /// Correlates the pair at every shift from the candidate's pose. Alternatives are local maxima
  /// that a valley parts from the pose, and shifts of a tenth of the reference's side and more,
  /// where structure in one direction leaves a ridge. Waits for the device. The result is valid
  /// until the next call.
  const Alternatives& find(const PairContext& context, const Candidate& candidate,
                           const IsAllowed& is_allowed);

 private:
  TranslationSearch& search_of(const PairContext& context);
  bool may_have_alternatives(Stream& stream, const TranslationSearch::Correlations& all);
  ShiftSurface fetch(Stream& stream, const TranslationSearch::Correlations& all);
  void add_maxima(const ShiftSurface& surface, const ShiftSurface::Peak& main,
                  const IsAllowed& is_allowed);
  void add_ridge(const ShiftSurface& surface, const ShiftSurface::Peak& main,
                 const IsAllowed& is_allowed);

  Device device_;
  std::optional<TranslationSearch> intensity_, orientation_;  // made when a pair first needs them
  std::optional<OtherMaxima> maxima_;
  std::vector<float> correlations_, overlaps_;  // of fetch()
  Alternatives alternatives_;
};

}  // namespace warpalign::detail
