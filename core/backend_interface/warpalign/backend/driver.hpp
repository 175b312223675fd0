// The interface of an opened device, which a backend implements.
//
// A backend derives its driver from DriverWithStages and exports the module's entry points
// (module.hpp). The list of stages is in stage_list.hpp.
#pragma once

#include <warpalign/backend/pageable_memory.hpp>
#include <warpalign/backend/queue.hpp>
#include <warpalign/backend/stage_list.hpp>
#include <warpalign/device.hpp>
#include <warpalign/error.hpp>

#include <functional>
#include <memory>

namespace warpalign::backend {

/// The factory of one stage. It compiles kernels, creates plans and allocates scratch memory, so
/// that an enqueue does none of these.
template <class Stage>
class StageFactory {
 public:
  virtual std::unique_ptr<Stage> make(const typename Stage::Setup& setup) = 0;

 protected:
  ~StageFactory() = default;
};

template <class List>
class StageFactories;
template <class... Stages>
class StageFactories<StageList<Stages...>> : public StageFactory<Stages>... {
 public:
  using StageFactory<Stages>::make...;

 protected:
  ~StageFactories() = default;
};

/// A queue that the caller owns, and whether it supports marks.
struct WrappedQueue {
  std::unique_ptr<Queue> queue;
  bool timed = false;
};

class Driver : public StageFactories<AllStages> {
 public:
  Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  /// Core calls it only after it has destroyed every memory object, queue and stage of this driver.
  virtual ~Driver() = default;

  /// The device's properties, including `sampling` and `fft`.
  [[nodiscard]] virtual const DeviceInfo& info() const noexcept = 0;

  /// The symbolic code of the failure by which the device was lost (device_loss.hpp); null if the
  /// device works. Core throws for every use of a lost device. It still destroys all objects of the
  /// device, and these destructors must neither fail nor hang.
  [[nodiscard]] virtual const char* lost() const noexcept { return nullptr; }

  /// Whether kernels of several queues run concurrently, and threads can enqueue on different
  /// queues without blocking each other.
  [[nodiscard]] virtual bool has_concurrent_queues() const noexcept { return false; }

  /// Starts the compilation of stages that will be needed. `make_plans` creates such stages through
  /// this driver, on the calling thread, and destroys them. A backend that compiles at run time
  /// creates them without compiling, and compiles the missing programs in the background. Other
  /// backends do nothing.
  virtual void announce(const std::function<void()>& /*make_plans*/) {}

  /// Stores compiled programs in the host's cache, unless the compilation has stored them already.
  virtual void store_compiled_kernels() {}

  virtual std::unique_ptr<Memory> allocate(std::size_t bytes) = 0;
  /// Memory for dense pixels, together with any objects (such as textures) through which this
  /// backend's kernels read such images, so that no stage has to make them on first use.
  virtual std::unique_ptr<Memory> allocate_image(PixelType type, const Shape& shape) {
    return allocate(static_cast<std::size_t>(shape.pixels()) * size_of(type));
  }
  /// The default is pageable memory, which is as fast as any for a device without its own memory.
  virtual std::unique_ptr<HostMemory> allocate_host(std::size_t bytes) {
    return std::make_unique<PageableMemory>(bytes);
  }
  /// The number of allocations of device memory and textures so far, by this driver and all of its
  /// objects. Tests check with it that executing a stage allocates nothing.
  [[nodiscard]] virtual std::size_t allocations() const noexcept = 0;
  virtual std::unique_ptr<Queue> make_queue(bool timed, QueuePriority priority) = 0;
  virtual std::unique_ptr<Readback> make_readback(std::size_t bytes) = 0;
  virtual std::unique_ptr<Event> make_event() = 0;

  // Objects that the caller owns. Core ensures that handles are not null, and that offsets and
  // sizes are multiples of a pixel. The backend checks everything that the vendor's API can tell:
  // whether the handle belongs to this device, the size, alignment and access of memory, and
  // whether a queue is in order. It throws Error(invalid_argument) for a bad handle. The defaults,
  // for backends without a vendor's API, always throw.
  virtual std::unique_ptr<Memory> wrap_memory(const UnownedMemory& /*memory*/) {
    refuse_unowned("memory");
  }
  /// Wraps memory as an image, with the same objects as allocate_image().
  virtual std::unique_ptr<Memory> wrap_image(const UnownedMemory& memory, PixelType /*type*/,
                                             const Shape& /*shape*/) {
    return wrap_memory(memory);
  }
  virtual WrappedQueue wrap_queue(NativeHandle /*queue*/) { refuse_unowned("queues"); }
  virtual std::unique_ptr<Event> wrap_event(NativeHandle /*event*/) { refuse_unowned("events"); }
  /// The vendor's handles of the context and the device; null if its API has none.
  [[nodiscard]] virtual NativeHandle native_context() const noexcept { return nullptr; }
  [[nodiscard]] virtual NativeHandle native_device() const noexcept { return nullptr; }

 private:
  [[noreturn]] void refuse_unowned(const char* what) const {
    throw Error(ErrorKind::invalid_argument,
                "the backend " + info().backend + " cannot wrap " + what + " of other libraries",
                {.stage = "wrap", .backend = info().backend, .device = info().name});
  }
};

/// A Driver whose factories all call `Derived::make_stage<Stage>(setup)`, so that a backend writes
/// that one template instead of one function for each stage.
template <class Derived, class List = AllStages>
class DriverWithStages;
template <class Derived>
class DriverWithStages<Derived, StageList<>> : public Driver {};
template <class Derived, class First, class... Rest>
class DriverWithStages<Derived, StageList<First, Rest...>>
    : public DriverWithStages<Derived, StageList<Rest...>> {
 public:
  using DriverWithStages<Derived, StageList<Rest...>>::make;
  std::unique_ptr<First> make(const typename First::Setup& setup) final {
    return static_cast<Derived*>(this)->template make_stage<First>(setup);
  }
};

}  // namespace warpalign::backend
