// Threads that share the work on a range of numbers.
#include "registration/tasks/range_workers.hpp"

namespace warpalign::detail {

RangeWorkers::RangeWorkers(std::size_t others) {
  for (std::size_t i = 0; i < others; ++i) parts_.push_back(std::make_unique<Part>());
}

void RangeWorkers::share(std::size_t first, std::size_t end, const Work& work) {
  const std::size_t each = (end - first) / (parts_.size() + 1);
  for (const auto& part : parts_) {
    part->work = &work;
    part->first = first;
    part->end = first += each;
    part->ahead.begin();
  }
  try {
    work(first, end);
    for (const auto& part : parts_) {
      if (part->ahead.begun()) {
        part->ahead.wait();
      } else {
        work(part->first, part->end);  // there was no thread to be had
      }
    }
  } catch (...) {
    for (const auto& part : parts_) part->ahead.drop();
    throw;
  }
}

}  // namespace warpalign::detail
