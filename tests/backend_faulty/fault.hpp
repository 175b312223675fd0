// How a point of this backend fails: by the interface's own error.
#pragma once

#include "faults/fault_points.hpp"

#include <warpalign/error.hpp>

#include <string>

namespace warpalign::faulty {

/// Counts a point, and throws if it is the one that is to fail. `what` must live for ever.
inline void point(const char* what, const char* stage, ErrorKind kind) {
  if (!faults::reached(what)) return;
  throw Error(kind, std::string("injected fault: ") + what,
              {.stage = stage, .backend = "faulty", .call = what, .code = "INJECTED"});
}

/// A member of what counts as alive.
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
