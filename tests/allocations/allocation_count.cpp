// A malloc() that attributes each call to the library, a driver or others.
#include "allocations/allocation_count.hpp"

#include "device/access.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

#include <dlfcn.h>
#include <execinfo.h>

// The GNU C library's own names of these functions.
extern "C" {
void* __libc_malloc(std::size_t bytes);                           // NOLINT
void* __libc_calloc(std::size_t count, std::size_t bytes);        // NOLINT
void* __libc_realloc(void* memory, std::size_t bytes);            // NOLINT
void* __libc_memalign(std::size_t alignment, std::size_t bytes);  // NOLINT
}

namespace {

constexpr std::size_t max_frames = 48;
constexpr std::size_t max_sites = 4;

struct Site {
  std::array<void*, max_frames> frames{};
  std::size_t depth = 0;
};

/// The counts of one thread. No member may allocate.
struct Count {
  bool running = false;
  std::size_t ours = 0, others = 0;
  std::array<Site, max_sites> sites{};
};

thread_local Count count;

std::string_view file_of(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string_view path = info.dli_fname;
  return path.substr(path.rfind('/') + 1);
}

// Whether a file allocates on behalf of its callers, as the C++ library does.
bool serves_others(std::string_view file) {
  for (const std::string_view name : {"libc.so", "libc-", "libstdc++.so", "libc++", "libm.so",
                                      "libgcc_s.so", "libpthread", "libdl", "ld-linux"}) {
    if (file.substr(0, name.size()) == name) return true;
  }
  return false;
}

bool is_ours(std::string_view file) {
  return file.substr(0, 12) == "libwarpalign" || file.substr(0, 10) == "warpalign_";
}

// Attributes a call. `caller` is the caller of malloc(); the frames above it belong to this file.
[[gnu::noinline]] void record(const void* caller) {
  if (!count.running) return;
  count.running = false;  // backtrace() may allocate
  Site site;
  const int depth = backtrace(site.frames.data(), static_cast<int>(max_frames));
  const std::span<void*> frames = std::span(site.frames).first(static_cast<std::size_t>(depth));
  std::size_t i = 0;
  while (i < frames.size() && frames[i] != caller) ++i;
  while (i < frames.size() && serves_others(file_of(frames[i]))) ++i;
  if (i < frames.size() && is_ours(file_of(frames[i]))) {
    if (count.ours < max_sites) {
      site.depth = frames.size();
      count.sites[count.ours] = site;
    }
    ++count.ours;
  } else {
    ++count.others;
  }
  count.running = true;
}

std::string described(const Site& site) {
  std::string text;
  for (const void* frame : std::span(site.frames).first(site.depth)) {
    Dl_info info{};
    if (dladdr(frame, &info) == 0) continue;
    const auto offset = static_cast<const char*>(frame) - static_cast<const char*>(info.dli_fbase);
    char address[32];
    std::snprintf(address, sizeof address, "+0x%tx", offset);
    text += "\n  " + std::string(file_of(frame)) + address;
    if (info.dli_sname != nullptr) text += std::string(" ") + info.dli_sname;
  }
  return text;
}

}  // namespace

#pragma GCC visibility push(default)  // visible to every loaded library
extern "C" {

void* malloc(std::size_t bytes) noexcept {
  record(__builtin_return_address(0));
  return __libc_malloc(bytes);
}

void* calloc(std::size_t elements, std::size_t bytes) noexcept {
  record(__builtin_return_address(0));
  return __libc_calloc(elements, bytes);
}

void* realloc(void* memory, std::size_t bytes) noexcept {
  record(__builtin_return_address(0));
  return __libc_realloc(memory, bytes);
}

void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  record(__builtin_return_address(0));
  return __libc_memalign(alignment, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  record(__builtin_return_address(0));
  return __libc_memalign(alignment, bytes);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) noexcept {
  record(__builtin_return_address(0));
  *memory = __libc_memalign(alignment, bytes);
  return *memory != nullptr ? 0 : ENOMEM;
}

}  // extern "C"
#pragma GCC visibility pop

namespace test {

Allocations allocations_of(const warpalign::Device& device, const std::function<void()>& work) {
  const auto& driver = warpalign::detail::Access::driver(device);
  void* loads_the_unwinder = nullptr;
  backtrace(&loads_the_unwinder, 1);
  const std::size_t before = driver.allocations();
  count = {};
  count.running = true;
  try {
    work();
  } catch (...) {
    count.running = false;
    throw;
  }
  count.running = false;
  Allocations found{count.ours, count.others, driver.allocations() - before, {}};
  for (std::size_t i = 0; i < std::min(count.ours, max_sites); ++i) {
    found.where += "\nallocation " + std::to_string(i + 1) + ":" + described(count.sites[i]);
  }
  return found;
}

}  // namespace test
