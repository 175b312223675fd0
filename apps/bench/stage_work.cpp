// Sets of images on a device and their transfers.
#include "bench/stage_work.hpp"

#include <algorithm>
#include <utility>

namespace warpalign::program::bench {
namespace {

std::vector<Image> make_images(const Device& device, const std::vector<Slot>& slots) {
  std::vector<Image> images;
  images.reserve(slots.size());
  for (const Slot& slot : slots) images.push_back(device.make_image(slot.type, slot.shape));
  return images;
}

}  // namespace

StageWork::StageWork(Device device, std::vector<Slot> inputs, std::vector<Slot> outputs)
    : device_(std::move(device)), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

std::size_t StageWork::set_bytes() const {
  std::size_t bytes = 0;
  for (const auto* slots : {&inputs_, &outputs_}) {
    for (const Slot& slot : *slots) {
      bytes += static_cast<std::size_t>(slot.shape.pixels()) * size_of(slot.type);
    }
  }
  return bytes;
}

void StageWork::make_sets(Stream& stream, std::size_t sets) {
  sets_.clear();
  for (std::size_t i = 0; i < sets; ++i) {
    sets_.push_back({make_images(device_, inputs_), make_images(device_, outputs_)});
    if (i == 0) upload(stream);
    for (std::size_t k = 0; i > 0 && k < inputs_.size(); ++k) {
      stream.copy(sets_.front().inputs[k].buffer(), sets_[i].inputs[k].buffer());
    }
  }
  stream.finish();
}

void StageWork::run(Stream& stream, std::size_t round) {
  run_on(stream, sets_[round % sets_.size()]);
}

void StageWork::upload(Stream& stream) {
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    Image& target = sets_.front().inputs[k];
    stream.upload(inputs_[k].pixels->data(), target.size_bytes(), target.buffer());
  }
  stream.finish();
}

void StageWork::download(Stream& stream) {
  for (const Image& image : sets_.front().outputs) {
    returned_.resize(std::max(returned_.size(), image.size_bytes()));
    stream.download(image, returned_.data(), image.size_bytes());
  }
}

}  // namespace warpalign::program::bench
