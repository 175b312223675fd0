// Points that can be made to fail.
#include "faults/fault_points.hpp"

#include <atomic>
#include <limits>

namespace faults {

namespace {

constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

std::atomic<bool> counting{false};
std::atomic<std::size_t> next_point{0};
std::atomic<std::size_t> failing_point{never};
std::atomic<const char*> failed_point{nullptr};
std::atomic<bool> losing{false};
std::atomic<std::int64_t> objects_alive{0};
std::atomic<std::int64_t> bytes_alive{0};

void start(std::size_t failing, bool loses = false) noexcept {
  failing_point = failing;
  losing = loses;
  failed_point = nullptr;
  next_point = 0;
  counting = true;
}

}  // namespace

bool reached(const char* what) noexcept {
  if (!counting) return false;
  if (next_point.fetch_add(1) != failing_point) return false;
  failed_point = what;
  return true;
}

void count_points() noexcept { start(never); }
void fail_at(std::size_t point) noexcept { start(point); }
void lose_at(std::size_t point) noexcept { start(point, true); }
bool is_loss() noexcept { return counting && losing && failed_point != nullptr; }
void stop() noexcept { counting = false; }

bool are_counted() noexcept { return counting; }

std::size_t points() noexcept { return next_point; }
const char* failed() noexcept { return failed_point; }

void born(std::size_t bytes) noexcept {
  ++objects_alive;
  bytes_alive += static_cast<std::int64_t>(bytes);
}

void gone(std::size_t bytes) noexcept {
  --objects_alive;
  bytes_alive -= static_cast<std::int64_t>(bytes);
}

Alive alive() noexcept { return {objects_alive, bytes_alive}; }

}  // namespace faults
