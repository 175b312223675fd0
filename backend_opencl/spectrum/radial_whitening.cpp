// Stage: divide a log-polar spectrum by its radial profile.
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include <warpalign/backend/stages/spectrum/radial_whitening.hpp>

#include <algorithm>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "radial_whitening";
constexpr std::size_t columns = 8;
constexpr std::size_t max_rows = 32;

class RadialWhitening final : public backend::RadialWhitening {
 public:
  RadialWhitening(Context& context, const RadialWhiteningSpec& spec)
      : width_(extent(spec.image.width, context.call_site(stage))),
        height_(extent(spec.image.height, context.call_site(stage))),
        rows_(std::clamp<std::size_t>(reduction_group(context) / columns, 1, max_rows)),
        groups_((static_cast<std::size_t>(spec.image.width) + columns - 1) / columns),
        kernel_(context, stage, kernels::radial_whitening, "radial_whitening",
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
std::unique_ptr<backend::RadialWhitening> make(Context& context, const RadialWhiteningSpec& spec) {
  return std::make_unique<RadialWhitening>(context, spec);
}

}  // namespace warpalign::opencl
