// The base of what a backend implements for a stage: one class, one enqueue.
//
// Core validates everything before it calls a stage: types, shapes, sizes and devices match the
// plan. All geometry is decided in core and passed as numbers. An enqueue allocates nothing,
// compiles nothing and does not wait; failures are thrown as warpalign::Error.
#pragma once

#include <warpalign/backend/memory.hpp>
#include <warpalign/backend/queue.hpp>

namespace warpalign::backend {

/// The class of every stage derives from this one and defines a type `Setup`, from which the stage
/// is made: either the public spec alone, or a struct of the spec and of what core derives from it.
class Stage {
 public:
  Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  virtual ~Stage() = default;
};

}  // namespace warpalign::backend
