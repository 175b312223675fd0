// An operator new that can be made to fail, for the library and the modules that it loads.
//
// It replaces the C++ library's for the whole process. Only allocations on behalf of the library
// count, because drivers and their compilers do not survive a lack of memory.
#include "faults/host/failing_new.hpp"
#include "faults/fault_points.hpp"

#include <execinfo.h>
#include <link.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string_view>

namespace {

thread_local bool within = false;

enum class Owner { others, serves_others, library };

/// The address range of the code of one of the relevant files.
struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  Owner owner = Owner::others;
};
std::array<Range, 64> ranges;
std::size_t range_count = 0;

/// The C++ library allocates on behalf of its callers.
Owner owner_of(std::string_view file) {
  file = file.substr(file.rfind('/') + 1);
  for (const std::string_view name : {"libstdc++", "libc.so", "libgcc_s"}) {
    if (file.starts_with(name)) return Owner::serves_others;
  }
  for (const std::string_view name : {"libwarpalign.", "warpalign_opencl", "warpalign_cuda"}) {
    if (file.starts_with(name)) return Owner::library;
  }
  return Owner::others;
}

/// dladdr() would search the symbols of drivers' compilers, which takes milliseconds per call.
int note_file(dl_phdr_info* info, std::size_t /*size*/, void* /*unused*/) {
  const Owner owner = owner_of(info->dlpi_name);
  if (owner == Owner::others) return 0;
  for (int i = 0; i < info->dlpi_phnum && range_count < ranges.size(); ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    ranges[range_count++] = {begin, begin + segment.p_memsz, owner};
  }
  return 0;
}

Owner owner_of(const void* address) {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  for (std::size_t i = 0; i < range_count; ++i) {
    if (place >= ranges[i].begin && place < ranges[i].end) return ranges[i].owner;
  }
  return Owner::others;
}

/// Whether operator new was called on behalf of the library. `caller` is its return address.
[[gnu::noinline]] bool for_the_library(const void* caller) {
  Owner owner = owner_of(caller);
  if (owner != Owner::serves_others) return owner == Owner::library;
  std::array<void*, 32> frames{};
  const auto depth =
      static_cast<std::size_t>(backtrace(frames.data(), static_cast<int>(frames.size())));
  std::size_t i = 0;
  while (i < depth && frames[i] != caller) ++i;
  while (i < depth && owner == Owner::serves_others) owner = owner_of(frames[i++]);
  return owner == Owner::library;
}

bool fails(const void* caller) {
  if (!faults::are_counted() || within) return false;
  within = true;  // backtrace() may allocate
  const bool result = for_the_library(caller) && faults::reached("operator new");
  within = false;
  return result;
}

void* memory_for(std::size_t bytes, const void* caller) {
  if (fails(caller)) return nullptr;
  return std::malloc(bytes == 0 ? 1 : bytes);
}

void* aligned_for(std::size_t bytes, std::align_val_t alignment, const void* caller) {
  if (fails(caller)) return nullptr;
  const auto unit = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
}

void* or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

namespace faults {

void prepare_failing_new() {
  range_count = 0;
  dl_iterate_phdr(note_file, nullptr);
  std::array<void*, 1> loads_the_unwinder{};
  backtrace(loads_the_unwinder.data(), 1);
}

}  // namespace faults

#pragma GCC visibility push(default)  // visible to every loaded library
#define CALLER __builtin_return_address(0)

void* operator new(std::size_t bytes) { return or_throw(memory_for(bytes, CALLER)); }
void* operator new[](std::size_t bytes) { return or_throw(memory_for(bytes, CALLER)); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return memory_for(bytes, CALLER);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return memory_for(bytes, CALLER);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return or_throw(aligned_for(bytes, alignment, CALLER));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return or_throw(aligned_for(bytes, alignment, CALLER));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

#undef CALLER
#pragma GCC visibility pop
