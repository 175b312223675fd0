// Parameters of several tasks that one launch performs.
#pragma once

#include <algorithm>
#include <cstddef>

namespace warpalign::cuda {

/// An argument of a kernel, by value: a copy to the device would cost more than it saves. All
/// arguments of a kernel together may have 4 KiB.
template <class Entry, int capacity>
struct ParameterList {
  Entry entries[capacity];
};

/// Splits `count` entries, which entry(i) makes, into lists, and calls `launch`, a generic function
/// of a list, the number of its first entry, and its length. A single entry gets a list type of
/// length 1, because larger arguments make a launch slower.
template <class Entry, int capacity, class Make, class Launch>
void launch_for_entries(std::size_t count, const Make& entry, const Launch& launch) {
  if (count == 1) {
    ParameterList<Entry, 1> list;
    list.entries[0] = entry(std::size_t{0});
    return launch(list, std::size_t{0}, std::size_t{1});
  }
  ParameterList<Entry, capacity> list;
  for (std::size_t first = 0; first < count; first += capacity) {
    const std::size_t here = std::min<std::size_t>(capacity, count - first);
    for (std::size_t i = 0; i < here; ++i) list.entries[i] = entry(first + i);
    launch(list, first, here);
  }
}

}  // namespace warpalign::cuda
