// The backend's interface of the stage: the Fourier transform of real images and volumes.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/stages/fft.hpp>

namespace warpalign::backend {

class RealFft : public Stage {
 public:
  using Setup = RealFftSpec;

  virtual void enqueue_forward(Queue& queue, const Memory& real, Memory& spectrum) = 0;
  virtual void enqueue_inverse(Queue& queue, Memory& spectrum, Memory& real) = 0;
};

}  // namespace warpalign::backend
