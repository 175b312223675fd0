// An array that work on other threads keeps alive.
#pragma once

#include "arrays.hpp"

#include <utility>

namespace warpalign::python {

/// Keeps an array alive. The thread that drops the last reference may not hold the GIL.
struct KeptArray {
  explicit KeptArray(InputArray kept) : array(std::move(kept)) {}
  KeptArray(const KeptArray&) = delete;
  KeptArray& operator=(const KeptArray&) = delete;
  ~KeptArray() {
    const nanobind::gil_scoped_acquire acquired;
    array = InputArray();
  }
  InputArray array;
};

}  // namespace warpalign::python
