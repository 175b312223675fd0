// Memory, queues, events and read-backs of another backend, each call of which can be made to fail.
#pragma once

#include "fault.hpp"

#include <warpalign/backend/queue.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace warpalign::faulty {

class Memory final : public backend::Memory {
 public:
  Memory(std::unique_ptr<backend::Memory> inner, std::size_t bytes)
      : counted_(bytes), inner_(std::move(inner)) {}
  [[nodiscard]] backend::Memory& inner() const noexcept { return *inner_; }
  [[nodiscard]] backend::NativeHandle native() const noexcept override { return inner_->native(); }
  [[nodiscard]] backend::Location location() const noexcept override { return inner_->location(); }

 private:
  Counted counted_;
  std::unique_ptr<backend::Memory> inner_;
};

class HostMemory final : public backend::HostMemory {
 public:
  HostMemory(std::unique_ptr<backend::HostMemory> inner, std::size_t bytes)
      : counted_(bytes), inner_(std::move(inner)) {}
  [[nodiscard]] void* data() const noexcept override { return inner_->data(); }

 private:
  Counted counted_;
  std::unique_ptr<backend::HostMemory> inner_;
};

class Event final : public backend::Event {
 public:
  Event(std::unique_ptr<backend::Event> inner, backend::DeviceLoss& loss)
      : inner_(std::move(inner)), loss_(loss) {}
  [[nodiscard]] backend::Event& inner() const noexcept { return *inner_; }
  [[nodiscard]] backend::NativeHandle native() const noexcept override { return inner_->native(); }
  [[nodiscard]] bool done() const override { return inner_->done(); }
  void finish() const override {
    point("wait for an event", "event", ErrorKind::device_failure, &loss_);
    inner_->finish();
  }

 private:
  Counted counted_;
  std::unique_ptr<backend::Event> inner_;
  backend::DeviceLoss& loss_;
};

class Queue final : public backend::Queue {
 public:
  Queue(std::unique_ptr<backend::Queue> inner, backend::DeviceLoss& loss)
      : inner_(std::move(inner)), loss_(loss) {}
  [[nodiscard]] backend::Queue& inner() const noexcept { return *inner_; }
  [[nodiscard]] backend::NativeHandle native() const noexcept override { return inner_->native(); }

  void upload(const backend::HostRows& source, backend::Memory& target) override;
  void download(const backend::Memory& source, void* target, std::size_t bytes) override;
  void copy(const backend::Memory& source, backend::Memory& target, std::size_t bytes) override;
  void finish() override;
  void record(backend::Event& event) override;
  void wait_for(const backend::Event& event) override;
  std::unique_ptr<backend::Mark> mark() override;
  double milliseconds_between(const backend::Mark& from, const backend::Mark& to) override;

 private:
  void reach(const char* what) { point(what, "queue", ErrorKind::device_failure, &loss_); }

  Counted counted_;
  std::unique_ptr<backend::Queue> inner_;
  backend::DeviceLoss& loss_;
};

class Readback final : public backend::Readback {
 public:
  Readback(std::unique_ptr<backend::Readback> inner, backend::DeviceLoss& loss)
      : inner_(std::move(inner)), loss_(loss) {}
  void enqueue(backend::Queue& queue, const backend::Memory& source, std::size_t bytes) override;
  const void* wait() override;

 private:
  void reach(const char* what) { point(what, "readback", ErrorKind::device_failure, &loss_); }

  Counted counted_;
  std::unique_ptr<backend::Readback> inner_;
  backend::DeviceLoss& loss_;
};

// Replaces this backend's memory in a stage's argument by the other backend's. Arguments without
// memory are passed on unchanged; structs with memory are in arguments.hpp.
template <class Argument>
const Argument& inner_of(const Argument& argument) noexcept {
  static_assert(std::is_copy_assignable_v<Argument>, "it holds memory: arguments.hpp unwraps it");
  return argument;
}
inline backend::Queue& inner_of(backend::Queue& queue) noexcept {
  return static_cast<Queue&>(queue).inner();
}
inline backend::Event& inner_of(backend::Event& event) noexcept {
  return static_cast<Event&>(event).inner();
}
inline const backend::Event& inner_of(const backend::Event& event) noexcept {
  return static_cast<const Event&>(event).inner();
}
inline backend::Memory& inner_of(backend::Memory& memory) noexcept {
  return static_cast<Memory&>(memory).inner();
}
inline const backend::Memory& inner_of(const backend::Memory& memory) noexcept {
  return static_cast<const Memory&>(memory).inner();
}
inline backend::Memory* inner_of(backend::Memory* memory) noexcept {
  return memory == nullptr ? nullptr : &inner_of(*memory);
}
inline const backend::Memory* inner_of(const backend::Memory* memory) noexcept {
  return memory == nullptr ? nullptr : &inner_of(*memory);
}

}  // namespace warpalign::faulty
