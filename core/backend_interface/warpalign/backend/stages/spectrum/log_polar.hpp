// The backend's interface of the stage: log-polar resampling of a centred spectrum magnitude.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/stages/log_polar.hpp>

#include <array>
#include <vector>

namespace warpalign::backend {

/// Point (i, j) of a log-polar grid is the frequency (u, v) = radii[i] directions[j], u >= 0, in
/// cycles per width and per height of the image. Beyond the Nyquist frequencies, width / 2 and
/// height / 2, the output is 0.
struct LogPolarPoints {
  std::vector<float> radii;
  std::vector<std::array<float, 2>> directions;
};

class LogPolar : public Stage {
 public:
  struct Setup {
    const LogPolarSpec& spec;
    const LogPolarPoints& points;
  };

  virtual void enqueue(Queue& queue, const Memory& magnitude, Memory& output) = 0;
};

}  // namespace warpalign::backend
