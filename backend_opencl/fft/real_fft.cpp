// Stage: the Fourier transform of real images, by the device's FFT library.
#include "device/memory.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "fft/fft_plans.hpp"

#include <warpalign/backend/stages/fft/fft.hpp>

namespace warpalign::opencl {

namespace {

class RealFft final : public backend::RealFft {
 public:
  explicit RealFft(std::shared_ptr<SharedFft> plan) : plan_(std::move(plan)) {}

  void enqueue_forward(backend::Queue& queue, const backend::Memory& real,
                       backend::Memory& spectrum) override {
    plan_->forward(queue_of(queue), buffer_of(real), buffer_of(spectrum));
  }

  void enqueue_inverse(backend::Queue& queue, backend::Memory& spectrum,
                       backend::Memory& real) override {
    plan_->inverse(queue_of(queue), buffer_of(spectrum), buffer_of(real));
  }

 private:
  std::shared_ptr<SharedFft> plan_;
};

}  // namespace

template <>
std::unique_ptr<backend::RealFft> make(Context& context, const RealFftSpec& spec) {
  return std::make_unique<RealFft>(context.fft_plans().get(spec));
}

}  // namespace warpalign::opencl
