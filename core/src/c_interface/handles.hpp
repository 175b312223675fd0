// The handles of the C interface: numbers in a table, so that an invalid number is harmless.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace warpalign::c_interface {

/// The error of a device handle that has no device.
inline constexpr const char* no_device = "the device is null or was closed";
/// The error of a handle that has no transform.
inline constexpr const char* no_transform = "the transform is null or was destroyed";

/// A table of objects by number. Numbers are never reused, not even by another table, so that the
/// number of a closed object stays invalid.
template <class T>
class Handles {
 public:
  std::uint64_t insert(std::shared_ptr<T> object) {
    const std::uint64_t id = next_id();
    const std::lock_guard lock(mutex_);
    objects_.emplace(id, std::move(object));
    return id;
  }

  /// Null for a number that is not in use. The result stays usable if another thread removes the
  /// number.
  [[nodiscard]] std::shared_ptr<T> find(std::uint64_t id) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(id);
    return found == objects_.end() ? nullptr : found->second;
  }

  /// Removes and returns the object, so that it is destroyed outside the lock. Null as for find().
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

/// The table of a type. It is never destroyed, because at the end of the process the drivers of
/// open devices may be gone already.
template <class T>
Handles<T>& handles() {
  static auto* const table = new Handles<T>;
  return *table;
}

}  // namespace warpalign::c_interface
