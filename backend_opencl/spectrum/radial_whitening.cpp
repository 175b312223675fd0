// Stage: the radial profile divided out of a log-polar spectrum.
#include "device/kernel.hpp"
#include "embedded_kernels.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"

#include <warpalign/backend/stages/spectrum/radial_whitening.hpp>

#include <algorithm>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "flatten_profile";
constexpr std::size_t columns = 8;
constexpr std::size_t most_rows = 32;

class FlattenProfile final : public backend::FlattenProfile {
 public:
  FlattenProfile(OpenedDevice& device, const FlattenProfileSpec& spec)
      : width_(to_int(spec.image.width, device.place(stage))),
        height_(to_int(spec.image.height, device.place(stage))),
        rows_(std::clamp<std::size_t>(reduction_group(device) / columns, 1, most_rows)),
        groups_((static_cast<std::size_t>(spec.image.width) + columns - 1) / columns),
        kernel_(device, stage, kernels::radial_whitening, "flatten_profile",
                "-D COLUMNS=" + std::to_string(columns) + " -D ROWS=" + std::to_string(rows_)) {}

  void enqueue(backend::Queue& queue, backend::Memory& image) override {
    kernel_.launch(queue_of(queue), {{groups_ * columns, rows_}, {columns, rows_}}, image, width_,
                   height_);
  }

 private:
  cl_int width_, height_;
  std::size_t rows_, groups_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::FlattenProfile> make(OpenedDevice& device, const FlattenProfileSpec& spec) {
  return std::make_unique<FlattenProfile>(device, spec);
}

}  // namespace warpalign::opencl
