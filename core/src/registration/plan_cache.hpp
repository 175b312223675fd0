// Plans and memory that are kept from one call to the next, by what they are for.
#pragma once

#include <cstddef>
#include <iterator>
#include <list>
#include <utility>

namespace warpalign::detail {

/// At most `most` values by key; the least recently used one goes first. Values stay where they
/// are: a reference from get() holds until `most` other keys have been asked for.
template <class Key, class Value>
class PlanCache {
 public:
  explicit PlanCache(std::size_t maximum) : maximum_(maximum) {}

  /// The value of `key`, made by make() where there is none. The one that it takes the place of
  /// goes before, so that both never need memory at the same time.
  template <class Make>
  Value& get(const Key& key, Make make) {
    return get(key, std::move(make), [](const Value&) { return true; });
  }

  /// The same, but only values of which may_go(value) says so make room. Where none does, the cache
  /// grows beyond its bound, until later calls find some that may go.
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
  std::list<Entry> entries_;  // the most recently used one last
};

}  // namespace warpalign::detail
