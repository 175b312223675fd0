// A part of a search that needs nothing of the rest, and may be done beside it.
#include "registration/pair/search_part.hpp"

#include "device/access.hpp"

namespace warpalign::detail {

namespace {

ImagePyramid& shown(std::optional<ImagePyramid>& pyramid, const Device& device,
                    const ImagePyramid& image) {
  if (!pyramid || !pyramid->matches(image.input_type(), image.shape())) {
    pyramid.reset();  // release the old memory before allocating the new
    pyramid.emplace(device, image.input_type(), image.shape());
  }
  pyramid->show_image_of(image);
  return *pyramid;
}

}  // namespace

bool prefers_parts_ahead(const Device& device) {
  return Access::driver(device).runs_queues_together();
}

PairShapes::PairShapes(const PairWork& pair)
    : reference(pair.reference.shape()),
      moving(pair.moving.shape()),
      reference_masked(pair.reference.mask() != nullptr),
      moving_masked(pair.moving.mask() != nullptr) {}

PairAside::PairAside(const Device& device)
    : device_(device),
      stream_(Access::make_stream(device, false, backend::QueuePriority::low)),
      clock_(stream_) {}

PairWork PairAside::show(const PairWork& pair, const std::atomic<bool>* stop) {
  return {stream_,
          clock_,
          shown(reference_, device_, pair.reference),
          shown(moving_, device_, pair.moving),
          nullptr,
          stop,
          pair.is_alone};
}

}  // namespace warpalign::detail
