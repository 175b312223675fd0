// A pool of plans with their memory, kept between calls.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace warpalign::python {

/// Lends each plan to one call at a time, so that calls may come from several threads: if its plan
/// is lent, a call makes another one. The pool is limited in number and bytes, and drops the least
/// recently used plan first.
template <typename Key, typename Plan>
class PlanPool {
 public:
  explicit PlanPool(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// A plan of the pool, or null.
  std::unique_ptr<Plan> take(const Key& key) {
    const std::lock_guard lock(mutex_);
    for (auto entry = kept_.begin(); entry != kept_.end(); ++entry) {
      if (!(entry->first == key)) continue;
      std::unique_ptr<Plan> plan = std::move(entry->second);
      bytes_ -= plan->bytes();
      kept_.erase(entry);
      return plan;
    }
    return nullptr;
  }

  /// Returns a plan to the pool. A plan whose execution failed must not be returned.
  void give_back(const Key& key, std::unique_ptr<Plan> plan) {
    Kept surplus;  // destroyed after the lock is released
    const std::lock_guard lock(mutex_);
    bytes_ += plan->bytes();
    kept_.emplace_front(key, std::move(plan));
    while (kept_.size() > max_plans || bytes_ > max_bytes_) {
      bytes_ -= kept_.back().second->bytes();
      surplus.splice(surplus.begin(), kept_, std::prev(kept_.end()));
    }
  }

  void clear() {
    Kept all;
    const std::lock_guard lock(mutex_);
    all.swap(kept_);
    bytes_ = 0;
  }

  [[nodiscard]] std::size_t size() {
    const std::lock_guard lock(mutex_);
    return kept_.size();
  }

 private:
  static constexpr std::size_t max_plans = 16;
  using Kept = std::list<std::pair<Key, std::unique_ptr<Plan>>>;

  std::mutex mutex_;
  Kept kept_;
  std::size_t bytes_ = 0;
  std::size_t max_bytes_;
};

}  // namespace warpalign::python
