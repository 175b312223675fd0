// Failing points of this backend, which throw the interface's own error.
#pragma once

#include "faults/fault_points.hpp"

#include <warpalign/backend/device_loss.hpp>
#include <warpalign/error.hpp>

#include <string>

namespace warpalign::faulty {

/// Counts a point, and throws if it is the one that must fail. `what` must be a string with static
/// lifetime. `loss` is that of the device, or null before it is open: once the device is lost,
/// every point of it fails.
inline void point(const char* what, const char* stage, ErrorKind kind, backend::DeviceLoss* loss) {
  if (loss != nullptr && loss->code() != nullptr) {
    throw Error(ErrorKind::device_failure, std::string("the lost device was used: ") + what,
                {.stage = stage, .backend = "faulty", .call = what, .code = loss->code()});
  }
  if (!faults::reached(what)) return;
  if (faults::is_loss()) {
    if (loss != nullptr) loss->note("INJECTED_LOSS");
    kind = ErrorKind::device_failure;
  }
  throw Error(kind, std::string("injected fault: ") + what,
              {.stage = stage, .backend = "faulty", .call = what, .code = "INJECTED"});
}

/// A member of objects that count as alive.
class Counted {
 public:
  explicit Counted(std::size_t bytes = 0) noexcept : bytes_(bytes) { faults::born(bytes_); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { faults::gone(bytes_); }

 private:
  std::size_t bytes_;
};

}  // namespace warpalign::faulty
