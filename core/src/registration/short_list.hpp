// Sorting short lists without the memory that std::stable_sort asks for.
#pragma once

#include <algorithm>

namespace warpalign::detail {

/// Sorts by insertion; equal elements keep their order. For lists of tens.
template <class List, class Before>
void sort_short_list(List& list, Before before) {
  for (auto next = list.begin(); next != list.end(); ++next) {
    std::rotate(std::upper_bound(list.begin(), next, *next, before), next, next + 1);
  }
}

}  // namespace warpalign::detail
