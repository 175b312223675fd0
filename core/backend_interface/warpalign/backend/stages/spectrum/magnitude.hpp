// The backend's interface of the stage: the magnitude of a half spectrum, centred.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/stages/magnitude.hpp>

namespace warpalign::backend {

class Magnitude : public Stage {
 public:
  using Setup = MagnitudeSpec;

  virtual void enqueue(Queue& queue, const Memory& spectrum, Memory& magnitude) = 0;
};

}  // namespace warpalign::backend
