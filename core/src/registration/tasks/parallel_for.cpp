// A loop whose range is divided among several threads.
#include "registration/tasks/parallel_for.hpp"

namespace warpalign::detail {

ParallelFor::ParallelFor(ThreadBudget* threads, std::size_t workers) {
  for (std::size_t i = 0; i < workers; ++i) parts_.push_back(std::make_unique<Part>(threads));
}

void ParallelFor::run(std::size_t first, std::size_t end, const Body& body) {
  const std::size_t each = (end - first) / (parts_.size() + 1);
  for (const auto& part : parts_) {
    part->body = &body;
    part->first = first;
    part->end = first += each;
    part->task.begin();
  }
  try {
    body(first, end);
    for (const auto& part : parts_) {
      if (part->task.has_begun()) {
        part->task.wait();
      } else {
        body(part->first, part->end);  // no thread was available
      }
    }
  } catch (...) {
    for (const auto& part : parts_) part->task.cancel();
    throw;
  }
}

}  // namespace warpalign::detail
