// The base of what a backend implements for a stage: one class, one enqueue.
//
// Core has validated everything before it calls these: types, shapes, sizes and devices match the
// plan. All geometry is decided in core and handed over as numbers. An enqueue allocates nothing,
// compiles nothing and does not wait; failures are thrown as warpalign::Error.
#pragma once

#include <warpalign/backend/memory.hpp>
#include <warpalign/backend/queue.hpp>

namespace warpalign::backend {

/// Each stage's class derives from this one and names what it is made from: its `Setup`, which is
/// the public spec alone or a struct of it and of what core has worked out.
class Stage {
 public:
  Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  virtual ~Stage() = default;
};

}  // namespace warpalign::backend
