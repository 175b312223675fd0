// A second thread that finds the features of the moving image.
#pragma once

#include "registration/features/feature_finder.hpp"
#include "registration/pair/search_helper.hpp"

#include <variant>

namespace warpalign::detail {

class FeatureHelper {
 public:
  explicit FeatureHelper(const Device& device);

  /// The features of the pair's moving image, whose descriptors are written, found while the caller
  /// does own(). Valid until the next call.
  template <class Own>
  const ViewFeatures& beside(const PairWork& pair, const Own& own) {
    thread_.show(pair);
    return *thread_.beside({}, own);
  }

 private:
  FeatureFinder finder_;
  ViewFeatures features_;
  // Uses the others, and is ended first.
  SearchHelper<std::monostate, const ViewFeatures*> thread_;
};

}  // namespace warpalign::detail
