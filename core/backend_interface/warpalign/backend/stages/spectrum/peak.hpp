// What a backend implements for the stage: the maximum of an image, with its coordinates and
// neighbours.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/stages/peak.hpp>

namespace warpalign::backend {

class Peak : public Stage {
 public:
  using Setup = PeakSpec;

  virtual void enqueue(Queue& queue, const Memory& input, Memory& records) = 0;
};

}  // namespace warpalign::backend
