// An opened device, as a backend implements it.
//
// A backend derives its driver from MakesEach and exports the module's entry points (module.hpp).
// The stages come from stage_list.hpp; no stage is named here.
#pragma once

#include <warpalign/backend/pageable_memory.hpp>
#include <warpalign/backend/queue.hpp>
#include <warpalign/backend/stage_list.hpp>
#include <warpalign/device.hpp>
#include <warpalign/error.hpp>

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

/// A queue that the caller owns, and whether it can take marks.
struct WrappedQueue {
  std::unique_ptr<Queue> queue;
  bool timed = false;
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

  /// The symbolic code of the failure by which the device was lost (loss.hpp); null while it is
  /// not. Core then refuses whatever is asked of the device. What was made with it is destroyed as
  /// usual, which must neither fail nor wait for ever.
  [[nodiscard]] virtual const char* lost() const noexcept { return nullptr; }

  /// Whether kernels of several queues run at the same time, and threads enqueue on their own ones
  /// without waiting for one another.
  [[nodiscard]] virtual bool runs_queues_together() const noexcept { return false; }

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
  /// Where the device has no memory of its own, any host memory is as fast as another.
  virtual std::unique_ptr<HostMemory> allocate_host(std::size_t bytes) {
    return std::make_unique<PageableMemory>(bytes);
  }
  /// The number of allocations of memory that the device uses, and of textures, made so far by this
  /// driver and by everything made with it. Tests use it to check that executing a stage makes
  /// none.
  [[nodiscard]] virtual std::size_t allocations() const noexcept = 0;
  virtual std::unique_ptr<Queue> make_queue(bool timed, QueuePriority priority) = 0;
  virtual std::unique_ptr<Readback> make_readback(std::size_t bytes) = 0;
  virtual std::unique_ptr<Event> make_event() = 0;

  // What the caller owns. Handles are not null, and offsets and sizes are multiples of a pixel. The
  // backend checks all that the vendor's API tells: whether the handle is of this device, how large
  // and how aligned the memory is, whether it can be written, whether the queue is in order. It
  // throws Error(invalid_argument) for what is not. Backends without a vendor's API refuse.
  virtual std::unique_ptr<Memory> wrap_memory(const ForeignMemory& /*memory*/) {
    refuse_foreign("memory");
  }
  /// As allocate_image().
  virtual std::unique_ptr<Memory> wrap_image(const ForeignMemory& memory, PixelType /*type*/,
                                             const Shape& /*shape*/) {
    return wrap_memory(memory);
  }
  virtual WrappedQueue wrap_queue(NativeHandle /*queue*/) { refuse_foreign("queues"); }
  virtual std::unique_ptr<Event> wrap_event(NativeHandle /*event*/) { refuse_foreign("events"); }
  /// The vendor's handles of what is open; null where its API has none.
  [[nodiscard]] virtual NativeHandle native_context() const noexcept { return nullptr; }
  [[nodiscard]] virtual NativeHandle native_device() const noexcept { return nullptr; }

 private:
  [[noreturn]] void refuse_foreign(const char* what) const {
    throw Error(ErrorKind::invalid_argument,
                "the backend " + info().backend + " takes no " + what + " that others made",
                {.stage = "wrap", .backend = info().backend, .device = info().name});
  }
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
