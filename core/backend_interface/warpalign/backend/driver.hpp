// An opened device, as a backend implements it.
//
// A backend derives its driver from MakesEach and exports the module's entry points (module.hpp).
// The stages come from stage_list.hpp; no stage is named here.
#pragma once

#include <warpalign/backend/queue.hpp>
#include <warpalign/backend/stage_list.hpp>
#include <warpalign/device.hpp>

#include <functional>
#include <memory>

namespace warpalign::backend {

/// The factory of one stage. It compiles kernels, makes plans and allocates scratch memory, so that
/// an enqueue does none of that.
template <class Stage>
class Makes {
 public:
  virtual std::unique_ptr<Stage> make(const typename Stage::Setup& setup) = 0;

 protected:
  ~Makes() = default;
};

template <class List>
class MakesAll;
template <class... Stages>
class MakesAll<StageList<Stages...>> : public Makes<Stages>... {
 public:
  using Makes<Stages>::make...;

 protected:
  ~MakesAll() = default;
};

class Driver : public MakesAll<AllStages> {
 public:
  Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  /// Called only after every memory object, queue and stage made by this driver was destroyed.
  virtual ~Driver() = default;

  /// The device's properties, including `sampling` and `fft`.
  [[nodiscard]] virtual const DeviceInfo& info() const noexcept = 0;

  /// What is going to be needed: `make_plans` makes such stages through this driver, on the calling
  /// thread, and lets go of them. A backend that compiles at run time makes them without compiling
  /// and has what they lack compiled in the background; to others it is nothing.
  virtual void announce(const std::function<void()>& /*make_plans*/) {}

  /// Puts what was compiled into the host's cache, where that was not done at once.
  virtual void keep_compiled() {}

  virtual std::unique_ptr<Memory> allocate(std::size_t bytes) = 0;
  /// Memory for dense pixels, together with any objects (such as textures) through which this
  /// backend's kernels read such images, so that no stage has to make them on first use.
  virtual std::unique_ptr<Memory> allocate_image(PixelType type, const Shape& shape) {
    return allocate(static_cast<std::size_t>(shape.pixels()) * size_of(type));
  }
  /// The number of allocations of memory that the device uses, and of textures, made so far by this
  /// driver and by everything made with it. Tests use it to check that executing a stage makes
  /// none.
  [[nodiscard]] virtual std::size_t allocations() const noexcept = 0;
  virtual std::unique_ptr<Queue> make_queue(bool timed) = 0;
  virtual std::unique_ptr<Readback> make_readback(std::size_t bytes) = 0;
};

/// A Driver whose factories all call `Derived::make_stage<Stage>(setup)`, so that a backend writes
/// that one template instead of one function for each stage.
template <class Derived, class List = AllStages>
class MakesEach;
template <class Derived>
class MakesEach<Derived, StageList<>> : public Driver {};
template <class Derived, class First, class... Rest>
class MakesEach<Derived, StageList<First, Rest...>>
    : public MakesEach<Derived, StageList<Rest...>> {
 public:
  using MakesEach<Derived, StageList<Rest...>>::make;
  std::unique_ptr<First> make(const typename First::Setup& setup) final {
    return static_cast<Derived*>(this)->template make_stage<First>(setup);
  }
};

}  // namespace warpalign::backend
