// The reasons why compiled kernels could not be stored.
#include "device/cache/cache_problem.hpp"

#include <warpalign/installation.hpp>

#include <algorithm>
#include <mutex>
#include <vector>

namespace warpalign {

namespace {

// Never destroyed: the destructor of a static object may close a device, which stores kernels.
struct Reasons {
  std::mutex mutex;
  std::vector<std::string> all;
};
Reasons& reasons() {
  static auto* const one = new Reasons;
  return *one;
}

}  // namespace

std::string kernel_cache_problem() {
  const std::lock_guard lock(reasons().mutex);
  std::string text;
  for (const std::string& reason : reasons().all) text += (text.empty() ? "" : "; ") + reason;
  return text;
}

void detail::note_cache_problem(const std::string& reason) {
  if (reason.empty()) return;
  const std::lock_guard lock(reasons().mutex);
  auto& all = reasons().all;
  if (std::find(all.begin(), all.end(), reason) == all.end()) all.push_back(reason);
}

}  // namespace warpalign
