// The scale spaces of many planes and their strongest blobs.
#include "registration/features/scale_space.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>

namespace warpalign::detail {

namespace {

// The parameters of Lowe (2004).
constexpr double first_sigma = 1.6;
constexpr int scales_per_octave = 3;
constexpr std::size_t images_per_octave = scales_per_octave + 3;
constexpr std::size_t max_octaves = 5;
constexpr std::int64_t min_side = 16;

constexpr std::int64_t initial_capacity = 1 << 15U;

// Returns the sigmas of the Gaussians that lead from one image of an octave to the next.
std::vector<double> sigmas_after(double first) {
  std::vector<double> sigmas{first};
  const double step = std::pow(2.0, 1.0 / scales_per_octave);
  double sigma = first_sigma;
  while (sigmas.size() < images_per_octave) {
    sigmas.push_back(sigma * std::sqrt(step * step - 1));
    sigma *= step;
  }
  return sigmas;
}

double missing_blur(double blur) {
  const double sigma = std::sqrt(std::max(first_sigma * first_sigma - blur * blur, 0.0));
  return sigma > 0.1 ? sigma : 0;
}

bool are_large_enough(const std::vector<Shape>& planes) {
  return std::all_of(planes.begin(), planes.end(), [](const Shape& plane) {
    return std::min(plane.width, plane.height) >= min_side;
  });
}

Keypoint place_of(const Blob& blob, float radians) {
  const double sigma =
      first_sigma * std::pow(2.0, static_cast<double>(blob.scale) / scales_per_octave);
  return {blob.plane, blob.image, blob.x, blob.y, static_cast<float>(sigma), radians};
}

void append_places(std::span<const OrientedBlob> blobs, std::vector<Keypoint>& places) {
  for (const OrientedBlob& item : blobs) places.push_back(place_of(item.blob, item.radians));
}

// The kernel finds blobs in any order. This order makes the result reproducible.
bool is_stronger(const Blob& a, const Blob& b) {
  return std::tuple(a.plane, -a.strength, a.octave, a.image, a.y, a.x) <
         std::tuple(b.plane, -b.strength, b.octave, b.image, b.y, b.x);
}

// Groups the blobs by octave, stably, and sets `rows` to the new index of each.
void order_by_octave(std::span<const OrientedBlob> blobs, std::vector<OrientedBlob>& ordered,
                     std::vector<std::size_t>& rows) {
  std::array<std::size_t, max_octaves> counts{}, next{};
  for (const OrientedBlob& item : blobs) ++counts.at(static_cast<std::size_t>(item.blob.octave));
  std::exclusive_scan(counts.begin(), counts.end(), next.begin(), std::size_t{0});
  ordered.resize(blobs.size());
  rows.clear();
  for (const OrientedBlob& item : blobs) {
    rows.push_back(next.at(static_cast<std::size_t>(item.blob.octave))++);
    ordered[rows.back()] = item;
  }
}

// Keeps the first `most` blobs of each plane. Expects blobs grouped by plane.
void keep_first(std::vector<OrientedBlob>& blobs, std::size_t most) {
  std::size_t of_plane = 0;
  std::int32_t plane = -1;
  std::erase_if(blobs, [&](const OrientedBlob& item) {
    if (item.blob.plane != plane) of_plane = 0;
    plane = item.blob.plane;
    return of_plane++ >= most;
  });
}

// Sorts only the blobs that it keeps.
void select_strongest(const std::vector<Blob>& blobs, std::size_t most,
                      std::vector<std::vector<Blob>>& of_planes, std::vector<Blob>& strongest) {
  for (std::vector<Blob>& of_plane : of_planes) of_plane.clear();
  for (const Blob& blob : blobs) of_planes[static_cast<std::size_t>(blob.plane)].push_back(blob);
  strongest.clear();
  for (std::vector<Blob>& of_plane : of_planes) {
    const auto kept =
        of_plane.begin() + static_cast<std::ptrdiff_t>(std::min(most, of_plane.size()));
    if (kept != of_plane.end()) {
      std::nth_element(of_plane.begin(), kept, of_plane.end(), is_stronger);
    }
    std::sort(of_plane.begin(), kept, is_stronger);
    strongest.insert(strongest.end(), of_plane.begin(), kept);
  }
}

// Calls use(octave, range) for the blobs of each octave. Expects blobs grouped by octave.
template <class Use>
void for_octaves(std::span<const OrientedBlob> blobs, std::size_t known, Use use) {
  for (std::size_t first = 0; first < blobs.size();) {
    const std::int32_t octave = blobs[first].blob.octave;
    std::size_t end = first;
    while (end < blobs.size() && blobs[end].blob.octave == octave) ++end;
    use(static_cast<std::size_t>(octave), KeypointRange{static_cast<std::int64_t>(known + first),
                                                        static_cast<std::int64_t>(end - first)});
    first = end;
  }
}

}  // namespace

double spacing_of_octave(std::int32_t octave) { return std::ldexp(1.0, octave); }

void reserve(const Device& device, std::optional<Buffer>& buffer, std::size_t bytes) {
  if (buffer && buffer->size_bytes() >= bytes) return;
  buffer.reset();  // release the old memory before allocating the new
  buffer.emplace(device.make_buffer(bytes));
}

ScaleSpace::ScaleSpace(const Device& device, const std::vector<Shape>& planes, double blur,
                       ScaleSpaceMemory& memory)
    : device_(device), memory_(&memory), count_(device.make_buffer(sizeof(std::int32_t))) {
  add_levels(planes, blur);
  reserve(device_, memory.deviations, planes.size() * sizeof(float));
  ensure_capacity(initial_capacity);
}

void ScaleSpace::add_levels(std::vector<Shape> planes, double blur) {
  std::int64_t step = 1;
  while (levels_.size() < max_octaves) {
    const OctaveSpec spec{planes, step, sigmas_after(levels_.empty() ? missing_blur(blur) : 0)};
    const std::vector<Shape> of_octave = OctavePlan::planes_of(spec);
    if (!are_large_enough(of_octave)) return;
    levels_.push_back(
        {OctavePlan(device_, spec), DescriptorsPlan(device_, {of_octave}), of_octave});
    if (memory_->octaves.size() < levels_.size()) memory_->octaves.resize(levels_.size());
    reserve(device_, memory_->octaves[levels_.size() - 1], OctavePlan::bytes_of(spec));
    reserve(device_, memory_->between, OctavePlan::bytes_between(spec));
    planes = of_octave;
    step = 2;
  }
}

void ScaleSpace::ensure_capacity(std::int64_t blobs) {
  memory_->room_for_blobs = std::max(memory_->room_for_blobs, blobs);
  if (blob_capacity_ == memory_->room_for_blobs) return;
  blob_capacity_ = memory_->room_for_blobs;
  reserve(device_, memory_->blobs, static_cast<std::size_t>(blob_capacity_) * sizeof(Blob));
  blobs_.clear();
  for (const Level& level : levels_) {
    BlobsSpec spec;
    spec.planes = level.planes;
    spec.images = images_per_octave;
    spec.capacity = blob_capacity_;
    blobs_.emplace_back(device_, spec);
  }
}

void ScaleSpace::build(Stream& stream) {
  levels_[0].octave.execute(stream, *memory_->planes, 0, *memory_->between, *memory_->octaves[0]);
  for (std::size_t i = 1; i < levels_.size(); ++i) {
    levels_[i].octave.execute(stream, *memory_->octaves[i - 1], scales_per_octave,
                              *memory_->between, *memory_->octaves[i]);
  }
  blobs_[0].measure(stream, *memory_->octaves[0], *memory_->deviations);
}

// Returns the number of blobs, which may exceed the capacity.
std::int64_t ScaleSpace::find_blobs(Stream& stream) {
  std::int32_t count = 0;
  stream.upload(&count, sizeof count, count_);
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    blobs_[i].execute(stream, *memory_->octaves[i], *memory_->deviations,
                      static_cast<std::int32_t>(i), count_, *memory_->blobs);
  }
  stream.download(count_, &count, sizeof count);
  return count;
}

void ScaleSpace::find_strongest(Stream& stream, std::size_t most) {
  ensure_capacity(initial_capacity);  // other scale spaces may have used a larger buffer
  std::int64_t count = find_blobs(stream);
  if (count > blob_capacity_) {
    ensure_capacity(count);
    count = find_blobs(stream);
  }
  std::vector<Blob>& found = memory_->found;
  found.resize(static_cast<std::size_t>(count));
  if (!found.empty()) stream.download(*memory_->blobs, found.data(), found.size() * sizeof(Blob));
  memory_->of_planes.resize(std::max(memory_->of_planes.size(), levels_[0].planes.size()));
  select_strongest(found, most, memory_->of_planes, memory_->strongest);
}

void ScaleSpace::upload(Stream& stream, const std::vector<Keypoint>& places) {
  reserve(device_, memory_->places, places.size() * sizeof(Keypoint));
  stream.upload(places.data(), places.size() * sizeof(Keypoint), *memory_->places);
}

// Finds the directions of the strongest blobs, in their order.
void ScaleSpace::find_orientations(Stream& stream) {
  const std::vector<Blob>& blobs = memory_->strongest;
  std::vector<OrientedBlob>& directed = memory_->directed;
  directed.clear();
  for (const Blob& blob : blobs) directed.push_back({blob, 0});
  std::vector<std::size_t>& rows = memory_->rows;
  order_by_octave(directed, memory_->of_octaves, rows);
  memory_->undirected_places.clear();
  append_places(memory_->of_octaves, memory_->undirected_places);
  upload(stream, memory_->undirected_places);
  constexpr auto each = static_cast<std::size_t>(DescriptorsPlan::max_orientations);
  std::vector<float>& radians = memory_->directions;
  radians.resize(blobs.size() * each);
  reserve(device_, memory_->radians, radians.size() * sizeof(float));
  for_octaves(memory_->of_octaves, 0, [&](std::size_t octave, const KeypointRange& range) {
    levels_[octave].descriptors.find_orientations(stream, *memory_->octaves[octave],
                                                  *memory_->places, range, *memory_->radians);
  });
  stream.download(*memory_->radians, radians.data(), radians.size() * sizeof(float));
  directed.clear();
  for (std::size_t i = 0; i < blobs.size(); ++i) {
    for (const float direction : std::span(radians).subspan(rows[i] * each, each)) {
      if (direction != DescriptorsPlan::no_orientation) directed.push_back({blobs[i], direction});
    }
  }
}

std::vector<OrientedBlob>& ScaleSpace::strongest(Stream& stream, std::size_t most) {
  std::vector<OrientedBlob>& result = memory_->of_octaves;
  result.clear();
  if (levels_.empty()) return result;
  build(stream);
  find_strongest(stream, most);
  if (memory_->strongest.empty()) return result;
  find_orientations(stream);
  keep_first(memory_->directed, most);
  order_by_octave(memory_->directed, result, memory_->rows);
  return result;
}

void ScaleSpace::describe(Stream& stream, std::span<const OrientedBlob> blobs,
                          std::vector<Keypoint>& described, Buffer& descriptors) {
  if (blobs.empty()) return;
  const std::size_t known = described.size();
  append_places(blobs, described);
  upload(stream, described);
  for_octaves(blobs, known, [&](std::size_t octave, const KeypointRange& range) {
    levels_[octave].descriptors.describe(stream, *memory_->octaves[octave], *memory_->places, range,
                                         descriptors);
  });
}

}  // namespace warpalign::detail
