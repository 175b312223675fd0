// Owning handles of OpenCL's objects. Every stage includes them, so they do not use Boost.Compute,
// whose headers take seconds to compile (program_build.cpp uses them).
#pragma once

#include <CL/cl.h>

#include <utility>

namespace warpalign::opencl {

void retain(cl_command_queue queue) noexcept;
void retain(cl_context context) noexcept;
void retain(cl_device_id device) noexcept;
void retain(cl_event event) noexcept;
void retain(cl_kernel kernel) noexcept;
void retain(cl_mem memory) noexcept;
void retain(cl_program program) noexcept;

// These do nothing in a forked process, where NVIDIA's driver would crash. The objects that a child
// inherits belong to its parent, and the driver frees them when the child ends.
void release(cl_command_queue queue) noexcept;
void release(cl_context context) noexcept;
void release(cl_device_id device) noexcept;
void release(cl_event event) noexcept;
void release(cl_kernel kernel) noexcept;
void release(cl_mem memory) noexcept;
void release(cl_program program) noexcept;
void release(cl_sampler sampler) noexcept;

/// A counted reference to an OpenCL object: copies refer to the same object. T is cl_mem, cl_event,
/// ...
template <class T>
class Handle {
 public:
  Handle() = default;
  /// Takes over the reference that the caller holds.
  [[nodiscard]] static Handle adopt(T raw) noexcept {
    Handle handle;
    handle.raw_ = raw;
    return handle;
  }
  /// Adds a reference.
  [[nodiscard]] static Handle share(T raw) noexcept {
    if (raw != nullptr) retain(raw);
    return adopt(raw);
  }
  Handle(const Handle& other) noexcept : Handle(share(other.raw_)) {}
  Handle(Handle&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Handle() {
    if (raw_ != nullptr) release(raw_);
  }

  /// Null for an empty handle.
  [[nodiscard]] T get() const noexcept { return raw_; }

 private:
  T raw_ = nullptr;
};

/// Takes over the reference that the caller holds.
template <class T>
[[nodiscard]] Handle<T> adopt(T raw) noexcept {
  return Handle<T>::adopt(raw);
}
/// Adds a reference to the object.
template <class T>
[[nodiscard]] Handle<T> share(T raw) noexcept {
  return Handle<T>::share(raw);
}

}  // namespace warpalign::opencl
