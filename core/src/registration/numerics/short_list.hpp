// Sorts short lists without the temporary memory that std::stable_sort allocates.
#pragma once

#include <algorithm>

namespace warpalign::detail {

/// Insertion sort; equal elements keep their order. Meant for lists of tens of elements.
template <class List, class Before>
void sort_short_list(List& list, Before before) {
  for (auto next = list.begin(); next != list.end(); ++next) {
    std::rotate(std::upper_bound(list.begin(), next, *next, before), next, next + 1);
  }
}

}  // namespace warpalign::detail
