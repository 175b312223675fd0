// Resampling of arrays of any size in host memory.
#include "device/check.hpp"
#include "tiles/equal_tiles.hpp"
#include "tiles/fitting_tiles.hpp"
#include "tiles/region_copy.hpp"

#include <warpalign/error.hpp>
#include <warpalign/tiles.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <list>
#include <optional>
#include <utility>

namespace warpalign {

namespace {

constexpr const char* stage = "tiles";

/// A plan with the images that it works on.
struct TileWork {
  TileWork(const Device& device, const ResampleSpec& made_for, bool at_points)
      : spec(made_for),
        image(device.make_image(spec.input, spec.image)),
        output(device.make_image(spec.output_type, spec.output)),
        plan(device, spec) {
    if (!at_points) return;
    Shape shape = spec.output;
    shape.depth *= spec.dimensions;
    coordinates.emplace(device.make_image(PixelType::f32, shape));
  }

  ResampleSpec spec;
  Image image;
  Image output;
  std::optional<Image> coordinates;
  ResamplePlan plan;
  std::size_t bytes = 0;
};

/// Where an output's pixels are read.
struct Points {
  const Transform* transform = nullptr;
  const float* coordinates = nullptr;  ///< instead
};

bool same_plan(const ResampleSpec& a, const ResampleSpec& b) {
  return a.image == b.image && a.output == b.output && a.boundary == b.boundary;
}

std::int64_t rounded_up(std::int64_t length, std::int64_t limit) {
  constexpr std::int64_t multiple = 32;
  return std::min((length + multiple - 1) / multiple * multiple, limit);
}

/// More samples at the end of the tile's input, so that most tiles have inputs of one shape. Where
/// the input ends at the image's end, it stays as it is.
Tile padded(const ResampleSpec& spec, Tile tile) {
  Shape& shape = tile.input.shape;
  const auto room = [&](std::int64_t samples, std::int64_t begin, std::int64_t length) {
    return std::max(samples - begin, length);
  };
  shape.width = rounded_up(shape.width, room(spec.image.width, tile.input.begin[0], shape.width));
  shape.height =
      rounded_up(shape.height, room(spec.image.height, tile.input.begin[1], shape.height));
  shape.depth = rounded_up(shape.depth, room(spec.image.depth, tile.input.begin[2], shape.depth));
  return tile;
}

}  // namespace

struct TiledResampler::State {
  State(const Device& on, const ResampleSpec& made_for, std::size_t bytes)
      : device(on), spec(made_for), max_bytes(bytes), stream(on.make_stream()) {}

  std::size_t execute(const std::byte* image, const Points& points, std::byte* output);
  std::vector<Tile> cut(const Points& points, std::size_t limit) const;
  std::vector<Tile> cut_after(const std::optional<Error>& shortage, const Points& points,
                              std::size_t limit) const;
  Tile tile_at(const Points& points, const Region& region) const;
  void run(const Tile& tile, const std::byte* image, const Points& points, std::byte* output,
           std::size_t limit);
  TileWork& work_for(const Tile& tile, bool at_points, std::size_t limit);
  void upload_coordinates(const Tile& tile, const float* coordinates, TileWork& work);

  Device device;
  ResampleSpec spec;
  std::size_t max_bytes;
  Stream stream;
  std::list<TileWork> kept;  ///< the most recently used first
  std::vector<std::byte> staged;
  std::vector<float> staged_coordinates;
};

namespace {

/// The least and the greatest of a row of coordinates in a box. NaN reads nothing.
std::pair<double, double> bounds_of(const float* row, const Shape& shape, const Region& region) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double low = infinity, high = -infinity;
  for (std::int64_t z = 0; z < region.shape.depth; ++z) {
    for (std::int64_t y = 0; y < region.shape.height; ++y) {
      const std::int64_t line = (region.begin[2] + z) * shape.height + region.begin[1] + y;
      const float* from = row + line * shape.width + region.begin[0];
      for (std::int64_t x = 0; x < region.shape.width; ++x) {
        if (std::isnan(from[x])) continue;
        low = std::min(low, static_cast<double>(from[x]));
        high = std::max(high, static_cast<double>(from[x]));
      }
    }
  }
  return low <= high ? std::pair{low, high} : std::pair{0.0, 0.0};
}

}  // namespace

Tile TiledResampler::State::tile_at(const Points& points, const Region& region) const {
  if (points.transform != nullptr) return padded(spec, tile_of(spec, *points.transform, region));
  std::array<std::pair<double, double>, 3> bounds{};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(spec.dimensions); ++axis) {
    const auto row = static_cast<std::int64_t>(axis) * spec.output.pixels();
    bounds[axis] = bounds_of(points.coordinates + row, spec.output, region);
  }
  Tile tile = tile_for_points(spec, {bounds[0].first, bounds[1].first, bounds[2].first},
                              {bounds[0].second, bounds[1].second, bounds[2].second});
  tile.output = region;
  return padded(spec, tile);
}

std::vector<Tile> TiledResampler::State::cut(const Points& points, std::size_t limit) const {
  const std::size_t per_pixel =
      points.transform != nullptr ? 0 : sizeof(float) * static_cast<std::size_t>(spec.dimensions);
  const detail::MemoryLimit memory{limit, device.info().max_allocation_bytes, per_pixel};
  const auto tile_of_region = [&](const Region& region) { return tile_at(points, region); };
  return detail::equal_tiles(spec, detail::fitting_tiles(spec, tile_of_region, memory),
                             tile_of_region, memory);
}

// Where the tiles cannot be as small as what the device had left demands, it is the device that has
// too little memory, and not the limit that is too low.
std::vector<Tile> TiledResampler::State::cut_after(const std::optional<Error>& shortage,
                                                   const Points& points, std::size_t limit) const {
  try {
    return cut(points, limit);
  } catch (const Error& error) {
    if (shortage && error.kind() == ErrorKind::out_of_memory) throw Error(*shortage);
    throw;
  }
}

std::size_t TiledResampler::State::execute(const std::byte* image, const Points& points,
                                           std::byte* output) {
  std::optional<Error> shortage;  // of the device, within the limit
  for (std::size_t limit = max_bytes;; limit /= 2) {
    const std::vector<Tile> all = cut_after(shortage, points, limit);
    try {
      for (const Tile& tile : all) run(tile, image, points, output, limit);
      return all.size();
    } catch (const Error& error) {
      kept.clear();
      if (error.kind() != ErrorKind::out_of_memory) throw;
      shortage = error;
    }
  }
}

TileWork& TiledResampler::State::work_for(const Tile& tile, bool at_points, std::size_t limit) {
  ResampleSpec part = spec;
  part.image = tile.input.shape;
  part.output = tile.output.shape;
  part.boundary = tile.boundary;
  for (auto entry = kept.begin(); entry != kept.end(); ++entry) {
    if (!same_plan(entry->spec, part) || entry->coordinates.has_value() != at_points) continue;
    kept.splice(kept.begin(), kept, entry);
    return kept.front();
  }
  const std::size_t bytes = tile_bytes(spec, tile);
  std::size_t taken = bytes;
  for (const TileWork& work : kept) taken += work.bytes;
  while (taken > limit && !kept.empty()) {
    taken -= kept.back().bytes;
    kept.pop_back();
  }
  kept.emplace_front(device, part, at_points).bytes = bytes;
  return kept.front();
}

/// Coordinates within the tile's input, of its pixels.
void TiledResampler::State::upload_coordinates(const Tile& tile, const float* coordinates,
                                               TileWork& work) {
  staged_coordinates.clear();
  const Region& region = tile.output;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(spec.dimensions); ++axis) {
    const double sign = tile.output_to_input.m[5 * axis];
    const double shift = tile.output_to_input.m[4 * axis + 3];
    const float* row = coordinates + static_cast<std::int64_t>(axis) * spec.output.pixels();
    for (std::int64_t z = 0; z < region.shape.depth; ++z) {
      for (std::int64_t y = 0; y < region.shape.height; ++y) {
        const std::int64_t line = (region.begin[2] + z) * spec.output.height + region.begin[1] + y;
        const float* from = row + line * spec.output.width + region.begin[0];
        for (std::int64_t x = 0; x < region.shape.width; ++x) {
          staged_coordinates.push_back(
              static_cast<float>(sign * static_cast<double>(from[x]) + shift));
        }
      }
    }
  }
  stream.upload(staged_coordinates.data(), staged_coordinates.size() * sizeof(float),
                work.coordinates->buffer());
}

void TiledResampler::State::run(const Tile& tile, const std::byte* image, const Points& points,
                                std::byte* output, std::size_t limit) {
  TileWork& work = work_for(tile, points.transform == nullptr, limit);
  const std::byte* samples =
      detail::gathered(image, spec.image, tile.input, size_of(spec.input), staged);
  stream.upload(samples, work.image.size_bytes(), work.image.buffer());
  if (points.transform != nullptr) {
    work.plan.execute(stream, work.image, tile.output_to_input, work.output);
  } else {
    upload_coordinates(tile, points.coordinates, work);
    work.plan.execute(stream, work.image, *work.coordinates, work.output);
  }
  const std::size_t pixel_bytes = size_of(spec.output_type);
  if (detail::is_dense(spec.output, tile.output)) {
    std::byte* target = output + detail::offset_of(spec.output, tile.output, pixel_bytes);
    return stream.download(work.output, target, work.output.size_bytes());
  }
  staged.resize(work.output.size_bytes());
  stream.download(work.output, staged.data(), staged.size());
  detail::scatter(staged.data(), output, spec.output, tile.output, pixel_bytes);
}

TiledResampler::TiledResampler(const Device& device, const ResampleSpec& spec,
                               std::size_t max_bytes) {
  if (spec.batch != 1)
    detail::refuse(stage, "arrays are resampled one by one; the batch must be 1");
  static_cast<void>(tile_of(spec, {}, {{}, spec.output}));  // checks the spec
  state_ =
      std::make_unique<State>(device, spec, max_bytes == 0 ? max_device_memory(device) : max_bytes);
}

TiledResampler::TiledResampler(TiledResampler&&) noexcept = default;
TiledResampler& TiledResampler::operator=(TiledResampler&&) noexcept = default;
TiledResampler::~TiledResampler() = default;

std::size_t TiledResampler::execute(const void* image, const Transform& output_to_input,
                                    void* output) {
  if (image == nullptr || output == nullptr) detail::refuse(stage, "there are no pixels");
  return state_->execute(static_cast<const std::byte*>(image), {&output_to_input, nullptr},
                         static_cast<std::byte*>(output));
}

std::size_t TiledResampler::execute(const void* image, std::span<const float> coordinates,
                                    void* output) {
  if (image == nullptr || output == nullptr) detail::refuse(stage, "there are no pixels");
  const auto expected =
      static_cast<std::size_t>(state_->spec.output.pixels() * state_->spec.dimensions);
  if (coordinates.size() != expected) {
    detail::refuse(stage, "there are " + std::to_string(coordinates.size()) +
                              " coordinates, and the output takes " + std::to_string(expected));
  }
  return state_->execute(static_cast<const std::byte*>(image), {nullptr, coordinates.data()},
                         static_cast<std::byte*>(output));
}

}  // namespace warpalign
