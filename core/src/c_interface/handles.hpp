// The handles of the C interface: numbers that are looked up, so that any number may be passed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace warpalign::c_interface {

/// Objects by number. A number is never given out twice, not even by another table, so that one of
/// a closed object stays invalid.
template <class T>
class Handles {
 public:
  std::uint64_t insert(std::shared_ptr<T> object) {
    const std::uint64_t id = next_id();
    const std::lock_guard lock(mutex_);
    objects_.emplace(id, std::move(object));
    return id;
  }

  /// Null for a number that is not in use. Whoever holds the result may use it even when another
  /// thread removes the number meanwhile.
  [[nodiscard]] std::shared_ptr<T> find(std::uint64_t id) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(id);
    return found == objects_.end() ? nullptr : found->second;
  }

  /// The object, for its destruction outside the lock; null as for find().
  [[nodiscard]] std::shared_ptr<T> remove(std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(id);
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

 private:
  static std::uint64_t next_id() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::shared_ptr<T>> objects_;
};

/// The table of a type. It is never destroyed: at the process's end, the drivers of devices that
/// were left open may be gone before it.
template <class T>
Handles<T>& handles() {
  static auto* const table = new Handles<T>;
  return *table;
}

}  // namespace warpalign::c_interface
