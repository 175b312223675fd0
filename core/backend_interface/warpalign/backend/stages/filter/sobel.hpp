// The backend's interface of the stage: gradient magnitude by the 3 x 3 Sobel operator.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/stages/sobel.hpp>

namespace warpalign::backend {

class Sobel : public Stage {
 public:
  using Setup = SobelSpec;

  virtual void enqueue(Queue& queue, const Memory& input, Memory& output) = 0;
};

}  // namespace warpalign::backend
