// A kernel that is ready to launch: program, name, arguments and grid.
#pragma once

#include "device/memory.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace warpalign::opencl {

/// The number of work-items and the size of a work-group.
struct Grid {
  std::array<std::size_t, 2> items{1, 1};
  std::array<std::size_t, 2> group{1, 1};
};

/// n / by, rounded up.
[[nodiscard]] constexpr std::int64_t divide_up(std::int64_t n, std::int64_t by) noexcept {
  return (n + by - 1) / by;
}
/// The smallest multiple of `by` that is not less than n.
[[nodiscard]] constexpr std::size_t rounded_up(std::int64_t n, std::size_t by) noexcept {
  return static_cast<std::size_t>(divide_up(n, static_cast<std::int64_t>(by))) * by;
}

/// A grid that covers width x height work-items, rounded up to whole groups; kernels check bounds.
/// GPUs get groups of 32 x 4 (four warps of 32, two wavefronts of 64), CPUs groups of 64 x 1.
[[nodiscard]] Grid covering(const Context& context, std::int64_t width, std::int64_t height = 1);

/// A grid of work-items with 4 x 2 pixels each, for kernels that use lib/signal.h.
[[nodiscard]] Grid signal_blocks(const Context& context, const Shape& image);

/// A grid that covers width x height work-items in patches, one per work-group, for kernels that
/// use lib/grid.h. It may have any number of rows. Neighbouring work-items read from the L1 cache
/// what others have loaded, on CPUs too.
[[nodiscard]] Grid patches(const Context& context, std::int64_t width, std::int64_t height);

/// The work-group size for reductions in local memory: a power of two.
[[nodiscard]] std::size_t reduction_group(const Context& context);

/// The work-group size for kernels that go over rows, which may be short, and keep several sums in
/// registers: 64 work-items, or one on CPUs, where a single work-item needs no barriers.
[[nodiscard]] std::size_t short_row_group(const Context& context);

/// How many groups of reduction_group() work-items to launch for `pixels`, so that each work-item
/// adds at least 16 of them.
[[nodiscard]] std::size_t reduction_groups(const Context& context, std::int64_t pixels);

/// A kernel argument in local memory, given by its size.
struct LocalMemory {
  std::size_t bytes;
};

/// During ProgramCache::announce() a kernel only registers its program, and launching it does
/// nothing.
class Kernel {
 public:
  Kernel(Context& context, const char* stage, std::string_view source, const char* name,
         const std::string& options = {});

  /// Sets the arguments in order and enqueues. Allocates nothing. A span of buffers is as many
  /// arguments.
  template <class... Arguments>
  void launch(cl_command_queue queue, const Grid& grid, const Arguments&... arguments) {
    if (kernel_.get() == nullptr) return;
    cl_uint index = 0;
    ((index = set(index, arguments)), ...);
    enqueue(queue, grid);
  }

 private:
  // Returns the index of the next argument.
  template <class T>
  cl_uint set(cl_uint index, const T& value) {
    if constexpr (std::is_base_of_v<backend::Memory, T>) {
      const cl_mem buffer = buffer_of(value);
      set_bytes(index, sizeof buffer, &buffer);  // NOLINT(bugprone-sizeof-expression): the handle
    } else if constexpr (std::is_same_v<Handle<cl_mem>, T>) {
      const cl_mem buffer = value.get();
      set_bytes(index, sizeof buffer, &buffer);  // NOLINT(bugprone-sizeof-expression): the handle
    } else if constexpr (std::is_same_v<LocalMemory, T>) {
      set_bytes(index, value.bytes, nullptr);
    } else if constexpr (std::is_same_v<std::span<const cl_mem>, T>) {
      for (const cl_mem buffer : value) index = set(index, buffer);
      return index;
    } else {
      static_assert(std::is_trivially_copyable_v<T>);
      set_bytes(index, sizeof value, &value);  // NOLINT(bugprone-sizeof-expression): handles, too
    }
    return index + 1;
  }
  void set_bytes(cl_uint index, std::size_t bytes, const void* value);
  void enqueue(cl_command_queue queue, const Grid& grid);

  CallSite site_;
  Handle<cl_kernel> kernel_;
};

}  // namespace warpalign::opencl
