// What a backend implements for the stage: the normalised cross-power spectrum.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/stages/cross_power.hpp>

namespace warpalign::backend {

class CrossPower : public Stage {
 public:
  using Setup = CrossPowerSpec;

  virtual void enqueue(Queue& queue, const Memory& a, const Memory& b, Memory& output) = 0;
};

}  // namespace warpalign::backend
