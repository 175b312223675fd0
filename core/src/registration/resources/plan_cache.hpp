// A cache of plans and memory that are reused from one call to the next.
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

  /// The same, but only values for which may_go(value) returns true are evicted. Where there is
  /// none, the cache grows beyond its bound until a later call can evict some.
  template <class Make, class MayGo>
  Value& get(const Key& key, Make make, MayGo may_go) {
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      if (!(entry->key == key)) continue;
      entries_.splice(entries_.end(), entries_, entry);
      return entry->value;
    }
    make_room(may_go);
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

  template <class MayGo>
  void make_room(MayGo may_go) {
    for (auto entry = entries_.begin(); entry != entries_.end() && entries_.size() >= maximum_;) {
      entry = may_go(std::as_const(entry->value)) ? entries_.erase(entry) : std::next(entry);
    }
  }

  std::size_t maximum_;
  std::list<Entry> entries_;  // most recently used last
};

}  // namespace warpalign::detail
