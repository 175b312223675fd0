// A lane, which processes one tile after the other, concurrently with other lanes.
#include "tiles/tile_lane.hpp"

#include "tiles/region_copy.hpp"

namespace warpalign::detail {

std::size_t bytes_of_point(const ResampleSpec& spec, const Points& points) noexcept {
  if (points.transform != nullptr) return 0;
  return sizeof(float) * static_cast<std::size_t>(spec.images.dimensions);
}

TileLane::Work::Work(const Device& device, const ResampleSpec& made_for, bool at_points)
    : spec(made_for),
      image(device.make_image(spec.input, spec.images.shape)),
      output(device.make_image(spec.output_type, spec.output)),
      plan(device, spec) {
  if (!at_points) return;
  Shape shape = spec.output;
  shape.depth *= spec.images.dimensions;
  coordinates.emplace(device.make_image(PixelType::f32, shape));
}

TileLane::TileLane(const Device& device, const ResampleSpec& spec)
    : device_(device), spec_(spec), stream_(device.make_stream()) {}

void TileLane::clear() noexcept {
  kept_.clear();
  staging_.reset();
}

std::byte* TileLane::staging(std::size_t bytes) {
  if (!staging_ || staging_->size_bytes() < bytes) {
    staging_.reset();  // frees its memory before the new one allocates
    staging_.emplace(device_.make_host_buffer(bytes));
  }
  return static_cast<std::byte*>(staging_->data());
}

TileLane::Work& TileLane::work_for(const Tile& tile, const Points& points, std::size_t bytes) {
  const bool at_points = points.transform == nullptr;
  ResampleSpec part = spec_;
  part.images.shape = tile.input.shape;
  part.output = tile.output.shape;
  part.spline.boundary = tile.boundary;
  for (auto entry = kept_.begin(); entry != kept_.end(); ++entry) {
    if (entry->spec != part || entry->coordinates.has_value() != at_points) continue;
    kept_.splice(kept_.begin(), kept_, entry);
    return kept_.front();
  }
  const auto pixels = static_cast<std::size_t>(tile.output.shape.pixels());
  const std::size_t needed = tile_bytes(spec_, tile) + pixels * bytes_of_point(spec_, points);
  std::size_t taken = needed;
  for (const Work& work : kept_) taken += work.bytes;
  while (taken > bytes && !kept_.empty()) {
    taken -= kept_.back().bytes;
    kept_.pop_back();
  }
  kept_.emplace_front(device_, part, at_points).bytes = needed;
  return kept_.front();
}

void TileLane::upload_samples(const Tile& tile, const std::byte* image, Image& samples,
                              bool direct) {
  const std::size_t pixel_bytes = size_of(spec_.input);
  if (direct && is_dense(spec_.images.shape, tile.input)) {
    const std::byte* first = image + offset_of(spec_.images.shape, tile.input, pixel_bytes);
    return stream_.upload(first, samples.size_bytes(), samples.buffer());
  }
  std::byte* staged = staging(samples.size_bytes());
  gather(image, spec_.images.shape, tile.input, pixel_bytes, staged);
  stream_.upload(staged, samples.size_bytes(), samples.buffer());
}

/// Converts coordinates of the image to coordinates of the tile's input.
void TileLane::upload_coordinates(const Tile& tile, const float* coordinates, Image& target,
                                  bool direct) {
  const bool unchanged =
      tile.output.shape == spec_.output && tile.output_to_input.m == HomogeneousMatrix().m;
  if (direct && unchanged) {
    return stream_.upload(coordinates, target.size_bytes(), target.buffer());
  }
  const Region& region = tile.output;
  auto* staged = reinterpret_cast<float*>(staging(target.size_bytes()));
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(spec_.images.dimensions); ++axis) {
    const double sign = tile.output_to_input.m[5 * axis];
    const double shift = tile.output_to_input.m[4 * axis + 3];
    const float* row = coordinates + static_cast<std::int64_t>(axis) * spec_.output.pixels();
    for (std::int64_t z = 0; z < region.shape.depth; ++z) {
      for (std::int64_t y = 0; y < region.shape.height; ++y) {
        const std::int64_t line = (region.begin[2] + z) * spec_.output.height + region.begin[1] + y;
        const float* from = row + line * spec_.output.width + region.begin[0];
        for (std::int64_t x = 0; x < region.shape.width; ++x) {
          staged[x] = static_cast<float>(sign * static_cast<double>(from[x]) + shift);
        }
        staged += region.shape.width;
      }
    }
  }
  stream_.upload(staging_->data(), target.size_bytes(), target.buffer());
}

void TileLane::download_pixels(const Tile& tile, const Region& own, const Image& pixels,
                               std::byte* output, bool direct) {
  const std::size_t pixel_bytes = size_of(spec_.output_type);
  if (direct && own == tile.output && is_dense(spec_.output, own)) {
    std::byte* target = output + offset_of(spec_.output, own, pixel_bytes);
    return stream_.download(pixels, target, pixels.size_bytes());
  }
  std::byte* staged = staging(pixels.size_bytes());
  stream_.download(pixels, staged, pixels.size_bytes());
  scatter(staged, tile.output, output, spec_.output, own, pixel_bytes);
}

void TileLane::run(const Tile& tile, const Region& own, const HostArrays& arrays, std::size_t bytes,
                   bool alone) {
  const bool direct = alone || device_.info().kind == DeviceKind::cpu;
  const Points& points = arrays.points;
  Work& work = work_for(tile, points, bytes);
  upload_samples(tile, arrays.image, work.image, direct);
  if (points.transform != nullptr) {
    work.plan.execute(stream_, work.image, tile.output_to_input, work.output);
  } else {
    upload_coordinates(tile, points.coordinates, *work.coordinates, direct);
    work.plan.execute(stream_, work.image, *work.coordinates, work.output);
  }
  download_pixels(tile, own, work.output, arrays.output, direct);
}

}  // namespace warpalign::detail
