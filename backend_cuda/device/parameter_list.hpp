// Parameters of several pieces of work that one launch does.
#pragma once

#include <algorithm>
#include <cstddef>

namespace warpalign::cuda {

/// An argument of a kernel, by value: a copy to the device would cost more than it saves. All
/// arguments of a kernel together have 4 KiB.
template <class Entry, int capacity>
struct ParameterList {
  Entry entries[capacity];
};

/// Calls `launch`, a generic function of a list, of the number of its first entry and of how many
/// it holds, for `count` entries, which entry(i) makes. A single entry has a list of its own length:
/// a launch takes longer where its arguments do.
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
