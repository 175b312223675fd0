// A second thread that takes a part of what a grid search compares.
#pragma once

#include "registration/similarity/grid_frames.hpp"
#include "registration/similarity/search_helper.hpp"

#include <span>

namespace warpalign::detail {

class GridHelper {
 public:
  using Known = std::span<const KnownRotationScale>;
  using Found = std::span<const TranslationSearch::Peaks>;

  GridHelper(const Device& device, const GridSteps& steps, const GridFrames::Batches& batches,
             bool by_directions);

  /// The pair that is searched next.
  void show(const PairWork& pair);
  /// What TranslationSearch::find() finds of these while the caller does own(). Valid until the
  /// next call.
  template <class Own>
  Found beside(TranslationSearch GridFrames::*frames, Known known, const Own& own) {
    on_ = frames;
    return thread_.beside(known, own);
  }

 private:
  bool by_directions_;
  Ones ones_;
  GradientFields fields_;
  GridFrames frames_;
  TranslationSearch GridFrames::*on_ = &GridFrames::small;
  SearchHelper<Known, Found> thread_;  // which uses the others, and is ended first
};

}  // namespace warpalign::detail
