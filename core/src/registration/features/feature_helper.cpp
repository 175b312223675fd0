// A second thread that finds the features of the moving image.
#include "registration/features/feature_helper.hpp"

namespace warpalign::detail {

FeatureHelper::FeatureHelper(const Device& device)
    : finder_(device), thread_(device, [this](const PairWork& work, std::monostate) {
        finder_.find(work, work.moving, features_);
        work.stream.finish();
        return &features_;
      }) {}

}  // namespace warpalign::detail
