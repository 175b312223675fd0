// A copy of a pair's context for another thread.
#include "registration/pair/pair_fork.hpp"

#include "device/access.hpp"

namespace warpalign::detail {

namespace {

ImagePyramid& fork_of(const ImagePyramid& image, const Device& device,
                      std::optional<ImagePyramid>& fork) {
  if (!fork || !fork->matches(image.input_type(), image.shape())) {
    fork.reset();  // release the old memory before allocating the new
    fork.emplace(device, image.input_type(), image.shape());
  }
  fork->share_image_of(image);
  return *fork;
}

}  // namespace

PairFork::PairFork(const Device& device)
    : device_(device),
      stream_(Access::make_stream(device, false, backend::QueuePriority::low)),
      clock_(stream_),
      unit_weights_(device, max_searched_levels),
      orientation_(device, unit_weights_) {}

PairContext PairFork::of(const PairContext& pair, const std::atomic<bool>* cancelled) {
  orientation_.begin_pair();
  return {stream_,
          clock_,
          fork_of(pair.reference, device_, reference_),
          fork_of(pair.moving, device_, moving_),
          unit_weights_,
          orientation_,
          pair.signal,
          cancelled,
          pair.threads};
}

}  // namespace warpalign::detail
