// Brings tiles, images or volumes, to the grid of the fused array.
#include "mosaic/tile_loader.hpp"

#include "mosaic/tile_corners.hpp"
#include "mosaic/undistorted_tiles.hpp"
#include "registration/numerics/plane_geometry.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace warpalign::detail {
namespace {

template <typename Sample>
void fill_integers(std::span<Sample> samples, std::span<const std::uint8_t> known,
                   const Shape& shape) {
  std::vector<float> values(samples.begin(), samples.end());
  fill_missing(values, known, shape);
  constexpr auto most = static_cast<float>(std::numeric_limits<Sample>::max());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (known[i] == 0)
      samples[i] = static_cast<Sample>(std::lround(std::clamp(values[i], 0.0F, most)));
  }
}

/// Replaces missing pixels, so that they do not spread through the spline's prefilter. Returns for
/// each pixel 0 if it was missing, or nothing if none was.
std::vector<std::uint8_t> fill(std::vector<std::byte>& bytes, PixelType type, const Shape& shape,
                               std::optional<double> nodata) {
  if (type != PixelType::f32 && !nodata) return {};
  KnownSamples samples = known_samples(HostVolume{bytes.data(), type, shape}, nodata);
  if (samples.missing == 0) return {};
  const std::size_t pixels = samples.known.size();
  if (type == PixelType::f32) {
    fill_missing(std::span(reinterpret_cast<float*>(bytes.data()), pixels), samples.known, shape);
  } else if (type == PixelType::u8) {
    fill_integers(std::span(reinterpret_cast<std::uint8_t*>(bytes.data()), pixels), samples.known,
                  shape);
  } else {
    fill_integers(std::span(reinterpret_cast<std::uint16_t*>(bytes.data()), pixels), samples.known,
                  shape);
  }
  return std::move(samples.known);
}

/// The spline of masks: the B-spline itself, whose weights have the sum 1.
SplineModel mask_spline() {
  SplineModel spline;
  spline.prefilter = std::nullopt;
  return spline;
}

}  // namespace

TileResampler::TileResampler(const Device& device, const Shape& shape, const Shape& output,
                             int dimensions, PixelType type, const TileDistortion& distortion,
                             const SplineModel& spline)
    : shape_(shape),
      stream_(device.make_stream()),
      input_(device.make_image(type, shape)),
      output_(device.make_image(type, output)),
      resample_(device, {.spline = spline,
                         .images = {.shape = shape, .dimensions = dimensions},
                         .output = output,
                         .input = type,
                         .output_type = type}) {
  if (distortion.is_zero()) return;
  coordinates_.emplace(device.make_image(PixelType::f32, {shape.width, shape.height, 2}));
  // A column and a row before the tile, since fractions lead there.
  field_ = undistorted_coordinates(distortion, {shape.width + 1, shape.height + 1, 1}, {-1, -1});
}

void TileResampler::resample(std::span<const std::byte> tile, const Point3& fraction,
                             std::span<std::byte> output) {
  if (!coordinates_) {
    const HomogeneousMatrix before = HomogeneousMatrix::affine3(
        {1, 0, 0, -fraction.x, 0, 1, 0, -fraction.y, 0, 0, 1, -fraction.z});
    return resample(tile, before, output);
  }
  stream_.upload(tile.data(), tile.size(), input_.buffer());
  const std::vector<float> points = moved_field(fraction);
  stream_.upload(points.data(), points.size() * sizeof(float), coordinates_->buffer());
  resample_.execute(stream_, input_, *coordinates_, output_);
  stream_.download(output_, output.data(), output.size());
}

void TileResampler::resample(std::span<const std::byte> tile,
                             const HomogeneousMatrix& output_to_tile, std::span<std::byte> output) {
  stream_.upload(tile.data(), tile.size(), input_.buffer());
  resample_.execute(stream_, input_, output_to_tile, output_);
  stream_.download(output_, output.data(), output.size());
}

/// The field that many pixels before. It is smooth: between its pixels it is linear.
std::vector<float> TileResampler::moved_field(const Point3& fraction) const {
  const auto u = static_cast<float>(fraction.x);
  const auto v = static_cast<float>(fraction.y);
  const auto row = static_cast<std::size_t>(shape_.width + 1);
  const std::size_t plane = row * static_cast<std::size_t>(shape_.height + 1);
  std::vector<float> points;
  points.reserve(2 * static_cast<std::size_t>(shape_.plane()));
  for (std::size_t first = 0; first < 2 * plane; first += plane) {
    for (std::size_t begin = first; begin + row < first + plane; begin += row) {
      const float* above = field_.data() + begin;
      const float* here = above + row;
      for (std::size_t x = 1; x < row; ++x) {
        const float upper = above[x] + u * (above[x - 1] - above[x]);
        const float lower = here[x] + u * (here[x - 1] - here[x]);
        points.push_back(lower + v * (upper - lower));
      }
    }
  }
  return points;
}

PlacedTile TileLoader::place(const Shape& shape, const Point3& position) const {
  PlacedTile tile;
  tile.shape = shape;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double start = along(position, axis);
    tile.first[axis] = pixel_before(start);
    along(tile.fraction, axis) = std::max(0.0, start - static_cast<double>(tile.first[axis]));
  }
  if (!distortion_.is_zero()) tile.border = undistorted_border(distortion_, shape);
  return tile;
}

PlacedTile TileLoader::place(const Shape& shape, const Homography& matrix, const Shape& grid) {
  const Point least = bounds_of(matrix, shape).least;
  PlacedTile tile;
  tile.shape = grid;
  tile.first = {pixel_before(least.x), pixel_before(least.y), 0};
  tile.rotated = {scaled(matrix.inverse()), shape};
  return tile;
}

void TileLoader::add_channel(PlacedTile& tile, std::vector<std::byte> bytes) {
  const Shape& shape = tile.rotated ? tile.rotated->tile : tile.shape;
  std::vector<std::uint8_t> known = fill(bytes, type_, shape, nodata_);
  if (tile.rotated || largest_coordinate(tile.fraction) > 0 || !distortion_.is_zero()) {
    bytes = on_grid(tile, resamplers_, std::move(bytes), type_, {});
    if (!known.empty()) move_known(tile, known);
  }
  tile.channels.push_back(std::move(bytes));
  tile.known.push_back(std::move(known));
}

std::vector<std::byte> TileLoader::on_grid(const PlacedTile& tile, Resamplers& resamplers,
                                           std::vector<std::byte> pixels, PixelType type,
                                           const SplineModel& spline) {
  const Shape& shape = tile.rotated ? tile.rotated->tile : tile.shape;
  const Key key{shape.width, shape.height, shape.depth};
  auto found = resamplers.find(key);
  if (found == resamplers.end()) {
    found =
        resamplers
            .try_emplace(key, device_, shape, tile.shape, dimensions_, type, distortion_, spline)
            .first;
  }
  if (!tile.rotated) {
    found->second.resample(pixels, tile.fraction, pixels);
    return pixels;
  }
  const Homography from_first =
      Affine{1, 0, static_cast<double>(tile.first[0]), 0, 1, static_cast<double>(tile.first[1])};
  const Homography to_tile = scaled(tile.rotated->to_tile * from_first);
  std::vector<std::byte> output(static_cast<std::size_t>(tile.shape.pixels()) * size_of(type));
  found->second.resample(pixels, HomogeneousMatrix::homography(to_tile.h), output);
  return output;
}

/// Marks the pixels of the grid that have too small a share of known ones.
void TileLoader::move_known(const PlacedTile& tile, std::vector<std::uint8_t>& known) {
  constexpr float rounding = 1e-5F;  // must not decide at exactly half
  const std::vector<float> mask(known.begin(), known.end());
  const auto* first = reinterpret_cast<const std::byte*>(mask.data());
  const std::vector<std::byte> bytes =
      on_grid(tile, mask_resamplers_, {first, first + mask.size() * sizeof(float)}, PixelType::f32,
              mask_spline());
  const std::span shares(reinterpret_cast<const float*>(bytes.data()),
                         bytes.size() / sizeof(float));
  known.resize(shares.size());
  for (std::size_t i = 0; i < shares.size(); ++i) {
    known[i] = shares[i] >= static_cast<float>(min_known_share) - rounding ? 1 : 0;
  }
}

}  // namespace warpalign::detail
