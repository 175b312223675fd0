// A program that uses OpenCL itself: its context and queue on a device under test.
#pragma once

#include "support/devices.hpp"
#include "support/skipped.hpp"

#include <warpalign/interop/opencl.hpp>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

namespace test {

inline void check_cl(cl_int status) { REQUIRE(status == CL_SUCCESS); }

/// An OpenCL object of the program, released at the end of the scope.
template <class T, cl_int (*release)(T)>
class Held {
 public:
  explicit Held(T object) : object_(object) { REQUIRE(object != nullptr); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { release(object_); }
  [[nodiscard]] T get() const { return object_; }
  operator T() const { return object_; }  // NOLINT(google-explicit-constructor): as OpenCL takes it

 private:
  T object_;
};
using Context = Held<cl_context, clReleaseContext>;
using Queue = Held<cl_command_queue, clReleaseCommandQueue>;
using Memory = Held<cl_mem, clReleaseMemObject>;
using ClEvent = Held<cl_event, clReleaseEvent>;

class Program {
 public:
  explicit Program(const warpalign::Device& listed)
      : id(warpalign::opencl::device_id_of(listed)),
        context(clCreateContext(nullptr, 1, &id, nullptr, nullptr, nullptr)),
        queue(clCreateCommandQueue(context, id, 0, nullptr)),
        device(warpalign::opencl::open_device(context, id)) {}

  [[nodiscard]] cl_mem make_memory(std::size_t bytes, cl_mem_flags flags = CL_MEM_READ_WRITE) {
    return clCreateBuffer(context, flags, bytes, nullptr, nullptr);
  }
  [[nodiscard]] cl_mem make_memory(const std::vector<float>& pixels) {
    return clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                          pixels.size() * sizeof(float), const_cast<float*>(pixels.data()),
                          nullptr);
  }
  [[nodiscard]] std::vector<float> read(cl_mem memory, std::size_t count) {
    std::vector<float> pixels(count);
    check_cl(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, count * sizeof(float), pixels.data(), 0,
                                 nullptr, nullptr));
    return pixels;
  }

  cl_device_id id;
  Context context;
  Queue queue;
  warpalign::Device device;
};

/// Blocks a queue until it is opened: commands enqueued behind the gate cannot run before.
class Gate {
 public:
  explicit Gate(Program& program) : event_(clCreateUserEvent(program.context, nullptr)) {
    const cl_event event = event_;
    check_cl(clEnqueueBarrierWithWaitList(program.queue, 1, &event, nullptr));
  }
  ~Gate() {
    open();
    if (opener_.joinable()) opener_.join();
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void open() {
    if (!is_open_.exchange(true)) clSetUserEventStatus(event_, CL_COMPLETE);
  }
  /// Opens the gate from another thread after a pause.
  void open_after(std::chrono::milliseconds pause) {
    opener_ = std::thread([this, pause] {
      std::this_thread::sleep_for(pause);
      open();
    });
  }
  [[nodiscard]] bool is_open() const { return is_open_; }

 private:
  ClEvent event_;
  std::atomic<bool> is_open_{false};
  std::thread opener_;
};

/// Runs `body(program)` on every OpenCL device under test.
template <class Body>
void on_every_program(Body&& body) {
  bool found = false;
  on_every_device([&](const warpalign::Device& device) {
    if (device.info().backend != "opencl") return;
    found = true;
    Program program(device);
    body(program);
  });
  if (!found) skip_case("no OpenCL device is under test");
}

}  // namespace test
