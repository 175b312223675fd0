// Stage: the highest peaks of a volume.
#include <warpalign/backend/stages/volume/volume_peaks.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/results.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace warpalign {

namespace {

constexpr const char* volume_peaks_stage = "volume_peaks";
// A peak suppresses lower ones within this number of voxels along every axis.
constexpr std::int64_t suppression_radius = 2;
// The number of maxima to examine per peak: a peak can appear in its own brick and, with its
// flanks, in the bricks around it.
constexpr std::size_t bricks_per_peak = 27;

VolumePeaksSpec checked(const VolumePeaksSpec& spec) {
  detail::check_shape(volume_peaks_stage, "the surface", spec.surface, detail::max_side);
  return spec;
}

VolumePeak peak_of(const backend::BrickRecord& record, std::size_t brick, const Shape& bricks) {
  const auto number = static_cast<std::int64_t>(brick);
  const auto within = static_cast<std::int64_t>(record.position);
  constexpr std::int64_t plane = backend::brick.width * backend::brick.height;
  return {record.value,
          number % bricks.width * backend::brick.width + within % backend::brick.width,
          number / bricks.width % bricks.height * backend::brick.height +
              within % plane / backend::brick.width,
          number / bricks.plane() * backend::brick.depth + within / plane};
}

std::int64_t distance_around(std::int64_t a, std::int64_t b, std::int64_t n) {
  const std::int64_t d = std::abs(a - b);
  return std::min(d, n - d);
}

bool are_neighbours(const VolumePeak& a, const VolumePeak& b, const Shape& surface) {
  return distance_around(a.x, b.x, surface.width) <= suppression_radius &&
         distance_around(a.y, b.y, surface.height) <= suppression_radius &&
         distance_around(a.z, b.z, surface.depth) <= suppression_radius;
}

// Stores the indices of the `count` highest records in `heap`, highest first.
void find_highest(std::span<const backend::BrickRecord> records, std::size_t count,
                  std::vector<std::size_t>& heap) {
  const auto higher = [&](std::size_t a, std::size_t b) {
    return records[a].value != records[b].value ? records[a].value > records[b].value : a < b;
  };
  heap.clear();  // its top is the lowest of the records kept so far
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!(records[i].value > -INFINITY)) continue;
    if (heap.size() == count) {
      if (!higher(i, heap.front())) continue;
      std::pop_heap(heap.begin(), heap.end(), higher);
      heap.pop_back();
    }
    heap.push_back(i);
    std::push_heap(heap.begin(), heap.end(), higher);
  }
  std::sort_heap(heap.begin(), heap.end(), higher);
}

}  // namespace

struct VolumePeaksPlan::Work {
  Work(const Device& device, std::size_t bricks) : records(device, bricks) {}
  detail::Results<backend::BrickRecord> records;
  std::vector<std::size_t> highest;
  std::vector<VolumePeak> peaks;
};

VolumePeaksPlan::VolumePeaksPlan(const Device& device, const VolumePeaksSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(spec)),
      work_(std::make_shared<Work>(
          device, static_cast<std::size_t>(backend::bricks_of(spec.surface).pixels()))) {}

std::span<const VolumePeak> VolumePeaksPlan::execute(Stream& stream, const Image& surface,
                                                     const VolumePeakLimits& limits) const& {
  detail::check_stream(volume_peaks_stage, device_, stream);
  detail::check_image(volume_peaks_stage, "the surface", device_, surface, PixelType::f32,
                      spec_.surface);
  if (limits.count < 1)
    detail::refuse(volume_peaks_stage, "the number of peaks must be at least 1");
  std::array<std::int64_t, 3> reach = limits.reach;
  for (std::int64_t& r : reach) {
    if (r < 0) detail::refuse(volume_peaks_stage, "reach must be 0 or more");
    r = std::min(r, detail::max_side);
  }
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(surface), reach,
                   work_->records.memory());
  const Shape bricks = backend::bricks_of(spec_.surface);
  const auto records = work_->records.fetch(stream);

  const auto wanted = static_cast<std::size_t>(limits.count);
  std::vector<VolumePeak>& peaks = work_->peaks;
  peaks.clear();
  find_highest(records, bricks_per_peak * wanted, work_->highest);
  for (const std::size_t i : work_->highest) {
    const VolumePeak peak = peak_of(records[i], i, bricks);
    const auto near = [&](const VolumePeak& other) {
      return are_neighbours(peak, other, spec_.surface);
    };
    if (std::none_of(peaks.begin(), peaks.end(), near)) peaks.push_back(peak);
    if (peaks.size() == wanted) break;
  }
  return peaks;
}

}  // namespace warpalign
