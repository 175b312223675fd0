// Chooses grids for a device, and launches kernels.
#include "device/kernel.hpp"

#include "device/device_list.hpp"
#include "device/program_cache.hpp"

#include <algorithm>

namespace warpalign::opencl {

Grid covering(const Context& context, std::int64_t width, std::int64_t height) {
  if (context.is_cpu()) {
    // One size for all images: PoCL recompiles a kernel for each size of work-group.
    return {{rounded_up(width, 64), static_cast<std::size_t>(height)}, {64, 1}};
  }
  const std::size_t rows = height == 1 ? 1 : 4;
  const std::size_t columns = 128 / rows;
  return {{rounded_up(width, columns), rounded_up(height, rows)}, {columns, rows}};
}

Grid signal_blocks(const Context& context, const Shape& image) {
  return covering(context, divide_up(image.width, 4), divide_up(image.height, 2));
}

Grid patches(const Context& context, std::int64_t width, std::int64_t height) {
  const auto limit = device_value<std::size_t>(context.id(), CL_DEVICE_MAX_WORK_GROUP_SIZE);
  std::size_t columns = 64;
  std::size_t rows = 4;
  if (context.is_cpu()) {
    // Two sizes for all images: PoCL recompiles a kernel for each size of work-group.
    rows = height < 32 || 32 * columns > limit ? 1 : 32;
  } else {
    while (rows > 1 && (rows * 32 > limit || rows / 2 >= static_cast<std::size_t>(height))) {
      rows /= 2;
    }
    columns = 128 / rows;
  }
  columns = std::min(columns, limit);
  const std::size_t across = rounded_up(width, columns) / columns;
  const std::size_t down = rounded_up(height, rows) / rows;
  return {{across * down * columns, rows}, {columns, rows}};
}

std::size_t reduction_group(const Context& context) {
  const std::size_t wanted = context.is_cpu() ? 64 : 256;
  const auto limit = device_value<std::size_t>(context.id(), CL_DEVICE_MAX_WORK_GROUP_SIZE);
  std::size_t size = 1;
  while (size * 2 <= std::min(wanted, limit)) size *= 2;
  return size;
}

std::size_t short_row_group(const Context& context) {
  return context.is_cpu() ? 1 : std::min<std::size_t>(reduction_group(context), 64);
}

std::size_t reduction_groups(const Context& context, std::int64_t pixels) {
  const std::size_t share = reduction_group(context) * 16;
  const auto groups = divide_up(pixels, static_cast<std::int64_t>(share));
  return static_cast<std::size_t>(std::clamp<std::int64_t>(groups, 1, 1024));
}

Kernel::Kernel(Context& context, const char* stage, std::string_view source, const char* name,
               const std::string& options)
    : site_(context.call_site(stage)) {
  const std::string all_options =
      context.programs().common_options() + (options.empty() ? "" : " " + options);
  const Handle<cl_program> program = context.programs().get(source, all_options, stage);
  if (program.get() == nullptr) return;  // only a warm-up
  cl_int status = CL_SUCCESS;
  const cl_kernel raw = clCreateKernel(program.get(), name, &status);
  check(status, "clCreateKernel", site_);
  kernel_ = adopt(raw);
}

void Kernel::set_bytes(cl_uint index, std::size_t bytes, const void* value) {
  check(clSetKernelArg(kernel_.get(), index, bytes, value), "clSetKernelArg", site_);
}

void Kernel::enqueue(cl_command_queue queue, const Grid& grid) {
  check(clEnqueueNDRangeKernel(queue, kernel_.get(), 2, nullptr, grid.items.data(),
                               grid.group.data(), 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel", site_);
}

}  // namespace warpalign::opencl
