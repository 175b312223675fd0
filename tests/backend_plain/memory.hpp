// Memory, queues and marks of a backend whose device is the host. Every call is synchronous.
#pragma once

#include <warpalign/backend/queue.hpp>

#include <chrono>
#include <cstddef>
#include <cstring>
#include <vector>

namespace warpalign::plain {

class Memory final : public backend::Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(bytes) {}
  [[nodiscard]] std::byte* data() noexcept { return bytes_.data(); }
  [[nodiscard]] const std::byte* data() const noexcept { return bytes_.data(); }

 private:
  std::vector<std::byte> bytes_;
};

[[nodiscard]] inline std::byte* data_of(backend::Memory& memory) {
  return static_cast<Memory&>(memory).data();
}
[[nodiscard]] inline const std::byte* data_of(const backend::Memory& memory) {
  return static_cast<const Memory&>(memory).data();
}

class Mark final : public backend::Mark {
 public:
  using Clock = std::chrono::steady_clock;
  Clock::time_point time = Clock::now();
};

/// Calls are synchronous, so every event is complete.
class Event final : public backend::Event {
 public:
  [[nodiscard]] bool done() const override { return true; }
  void finish() const override {}
};

class Queue final : public backend::Queue {
 public:
  void upload(const backend::HostRows& source, backend::Memory& target) override {
    const auto* from = static_cast<const std::byte*>(source.data);
    std::byte* to = data_of(target);
    for (std::size_t row = 0; row < source.rows; ++row) {
      std::memcpy(to + row * source.row_bytes, from + row * source.pitch_bytes, source.row_bytes);
    }
  }
  void download(const backend::Memory& source, void* target, std::size_t bytes) override {
    std::memcpy(target, data_of(source), bytes);
  }
  void copy(const backend::Memory& source, backend::Memory& target, std::size_t bytes) override {
    std::memcpy(data_of(target), data_of(source), bytes);
  }
  void finish() override {}
  void record(backend::Event& /*event*/) override {}
  void wait_for(const backend::Event& /*event*/) override {}
  std::unique_ptr<backend::Mark> mark() override { return std::make_unique<Mark>(); }
  double milliseconds_between(const backend::Mark& from, const backend::Mark& to) override {
    const auto passed = static_cast<const Mark&>(to).time - static_cast<const Mark&>(from).time;
    return std::chrono::duration<double, std::milli>(passed).count();
  }
};

class Readback final : public backend::Readback {
 public:
  explicit Readback(std::size_t bytes) : bytes_(bytes) {}
  void enqueue(backend::Queue& /*queue*/, const backend::Memory& source,
               std::size_t bytes) override {
    std::memcpy(bytes_.data(), data_of(source), bytes);
  }
  const void* wait() override { return bytes_.data(); }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace warpalign::plain
