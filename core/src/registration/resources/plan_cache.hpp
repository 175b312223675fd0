// A cache of plans and memory that are reused between calls.
#pragma once

#include <cstddef>
#include <iterator>
#include <list>
#include <utility>

namespace warpalign::detail {

/// Holds at most `maximum` values by key and evicts the least recently used one first. Values do
/// not move: a reference from get() stays valid until `maximum` other keys have been requested.
template <class Key, class Value>
class PlanCache {
 public:
  explicit PlanCache(std::size_t maximum) : maximum_(maximum) {}

  /// The value of `key`, created by make() if it is not in the cache. The value that it replaces is
  /// destroyed first, so that both never occupy memory at the same time.
  template <class Make>
  Value& get(const Key& key, Make make) {
    return get(key, std::move(make), [](const Value&) { return true; });
  }

  /// The same, but evicts only values for which may_evict(value) returns true. If there is none,
  /// the cache exceeds its bound until a later call can evict some.
  template <class Make, class MayEvict>
  Value& get(const Key& key, Make make, MayEvict may_evict) {
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      if (!(entry->key == key)) continue;
      entries_.splice(entries_.end(), entries_, entry);
      return entry->value;
    }
    make_room(may_evict);
    entries_.emplace_back(key, make);
    return entries_.back().value;
  }

  template <class Visit>
  void for_each(Visit visit) {
    for (Entry& entry : entries_) visit(entry.value);
  }

  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    template <class Make>
    Entry(const Key& key_, Make& make) : key(key_), value(make()) {}
    Key key;
    Value value;
  };

  template <class MayEvict>
  void make_room(MayEvict may_evict) {
    for (auto entry = entries_.begin(); entry != entries_.end() && entries_.size() >= maximum_;) {
      entry = may_evict(std::as_const(entry->value)) ? entries_.erase(entry) : std::next(entry);
    }
  }

  std::size_t maximum_;
  std::list<Entry> entries_;  // most recently used last
};

}  // namespace warpalign::detail
