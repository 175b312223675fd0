// The base class of all stages. A backend implements one class per stage, with one enqueue.
//
// Core validates everything before it calls a stage: types, shapes, sizes and devices match the
// plan. Core also computes all geometry and passes it as numbers. An enqueue allocates nothing,
// compiles nothing and does not wait. It reports failures by throwing warpalign::Error.
#pragma once

#include <warpalign/backend/memory.hpp>
#include <warpalign/backend/queue.hpp>

namespace warpalign::backend {

/// The base class. A derived class defines a type `Setup`, the argument of its factory: either the
/// public spec, or a struct of the spec and the values that core derives from it.
class Stage {
 public:
  Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  virtual ~Stage() = default;
};

}  // namespace warpalign::backend
