// Independent work on all cores of the host.
#include "io/in_parallel.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <system_error>
#include <thread>
#include <vector>

namespace warpalign::program {

void in_parallel(std::size_t count, const std::function<void(std::size_t i)>& work) {
  std::atomic<std::size_t> next{0};
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::future<void>> others;  // their destructors wait, even after an exception
  try {
    while (others.size() + 1 < std::min(cores, count)) {
      others.push_back(std::async(std::launch::async, take));
    }
  } catch (const std::system_error&) {
    // If no thread can be started, the existing ones do all the work.
  }
  take();
  for (std::future<void>& other : others) other.get();
}

}  // namespace warpalign::program
