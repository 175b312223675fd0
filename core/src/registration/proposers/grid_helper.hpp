// Another thread that takes a part of what a grid search compares.
#pragma once

#include "registration/pair/search_helper.hpp"
#include "registration/proposers/grid_frames.hpp"

#include <span>

namespace warpalign::detail {

class GridHelper {
 public:
  /// What is compared, and on which frames.
  struct Part {
    TranslationSearch GridFrames::*frames = nullptr;
    std::span<const KnownRotationScale> known;
  };
  using Found = std::span<const TranslationSearch::Peaks>;

  GridHelper(const Device& device, const GridSteps& steps, const GridFrames::Batches& batches,
             bool by_directions);

  /// The pair that is searched next.
  void show(const PairWork& pair);
  /// What TranslationSearch::find() finds of a part while the caller does own(). Valid until the
  /// next call.
  template <class Own>
  Found beside(const Part& part, const Own& own) {
    return thread_.beside(part, own);
  }

 private:
  bool by_directions_;
  Ones ones_;
  GradientFields fields_;
  GridFrames frames_;
  SearchHelper<Part, Found> thread_;  // which uses the others, and is ended first
};

}  // namespace warpalign::detail
