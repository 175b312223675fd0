// fuse_tiles(): resamples each tile to the picture's grid, and blends tiles where they overlap.
#include "device/check.hpp"
#include "device/host_rows.hpp"
#include "mosaic/blended_strip.hpp"
#include "mosaic/undistorted_tiles.hpp"

#include <warpalign/missing.hpp>
#include <warpalign/mosaic.hpp>
#include <warpalign/stages/resample.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace warpalign {

using namespace detail;

namespace {

constexpr const char* stage = "fuse_tiles";

/// Resamples tiles of one shape and type by fractions of a pixel, without their distortion.
class TileResampler {
 public:
  TileResampler(const Device& device, const Shape& shape, PixelType type,
                const TileDistortion& distortion, const SplineModel& spline = {})
      : shape_(shape),
        stream_(device.make_stream()),
        input_(device.make_image(type, shape)),
        output_(device.make_image(type, shape)),
        resample_(device, {.spline = spline,
                           .images = {.shape = shape},
                           .output = shape,
                           .input = type,
                           .output_type = type}) {
    if (distortion.is_zero()) return;
    coordinates_.emplace(device.make_image(PixelType::f32, {shape.width, shape.height, 2}));
    // A column and a row before the tile, since fractions lead there.
    field_ = undistorted_coordinates(distortion, {shape.width + 1, shape.height + 1, 1}, {-1, -1});
  }

  /// Reads the tile `fraction` pixels before each pixel of the output.
  void resample(const HostImage& tile, const Point& fraction, std::span<std::byte> output) {
    stream_.upload(tile, input_);
    if (coordinates_) {
      const std::vector<float> points = moved_field(fraction);
      stream_.upload(points.data(), points.size() * sizeof(float), coordinates_->buffer());
      resample_.execute(stream_, input_, *coordinates_, output_);
    } else {
      resample_.execute(stream_, input_, Affine::translation(-fraction.x, -fraction.y), output_);
    }
    stream_.download(output_, output.data(), output.size());
  }

 private:
  /// The field that many pixels before. It is smooth: between its pixels it is linear.
  [[nodiscard]] std::vector<float> moved_field(const Point& fraction) const {
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

  Shape shape_;
  Stream stream_;
  Image input_;
  Image output_;
  ResamplePlan resample_;
  std::vector<float> field_;  ///< empty without a distortion
  std::optional<Image> coordinates_;
};

/// The bytes of an image in dense rows.
std::vector<std::byte> dense(const HostImage& image) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(image.width * image.height) *
                               size_of(image.type));
  copy_rows(image, bytes.data());
  return bytes;
}

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
  KnownSamples samples =
      known_samples(HostImage{bytes.data(), type, shape.width, shape.height, 0}, nodata);
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

/// One call of fuse_tiles().
class Fusion {
 public:
  Fusion(const Device& device, std::span<const MosaicTile> tiles, std::span<const Point> positions,
         const ChannelSource& source, const FusionSpec& spec)
      : device_(device), tiles_(tiles), positions_(positions), source_(source), spec_(spec) {
    by_top_.resize(tiles.size());
    std::iota(by_top_.begin(), by_top_.end(), std::size_t{0});
    std::stable_sort(by_top_.begin(), by_top_.end(),
                     [&](std::size_t a, std::size_t b) { return positions[a].y < positions[b].y; });
  }

  void run(const RowSink& sink) {
    BlendedStrip strip(spec_.picture.width, spec_.rows, spec_.type, spec_.nodata);
    std::size_t next = 0;
    for (std::int64_t top = 0; top < spec_.picture.height; top += spec_.rows) {
      const std::int64_t rows = std::min(spec_.rows, spec_.picture.height - top);
      std::erase_if(loaded_, [&](const PlacedTile& tile) { return tile.y + tile.height <= top; });
      while (next < by_top_.size() &&
             positions_[by_top_[next]].y < static_cast<double>(top + rows)) {
        load(by_top_[next++], top);
      }
      const auto channels = static_cast<std::size_t>(spec_.channels);
      std::vector<std::vector<std::byte>> planes(channels);
      std::vector<HostImage> images;
      for (std::size_t c = 0; c < channels; ++c) {
        planes[c] = strip.blend(loaded_, c, top, rows);
        images.push_back({planes[c].data(), spec_.type, spec_.picture.width, rows, 0});
      }
      sink(top, images);
    }
  }

 private:
  void load(std::size_t i, std::int64_t top) {
    const Shape& shape = tiles_[i].shape;
    const Point& position = positions_[i];
    PlacedTile tile;
    tile.x = pixel_before(position.x);
    tile.y = pixel_before(position.y);
    const Point fraction{std::max(0.0, position.x - static_cast<double>(tile.x)),
                         std::max(0.0, position.y - static_cast<double>(tile.y))};
    tile.width = shape.width;
    tile.height = shape.height;
    tile.fraction = fraction;
    const bool distorted = !spec_.distortion.is_zero();
    if (distorted) tile.border = undistorted_border(spec_.distortion, shape);
    if (tile.y + tile.height <= top) return;
    for (int c = 0; c < spec_.channels; ++c) {
      const TilePixels pixels = source_(i, c);
      if (pixels.image.data == nullptr) return;
      check_pixels(i, pixels.image);
      std::vector<std::byte>& bytes = tile.channels.emplace_back(dense(pixels.image));
      std::vector<std::uint8_t>& known =
          tile.known.emplace_back(fill(bytes, spec_.type, shape, spec_.nodata));
      if (fraction.x == 0 && fraction.y == 0 && !distorted) continue;
      const HostImage input{bytes.data(), spec_.type, shape.width, shape.height, 0};
      resampler_of(shape).resample(input, fraction, bytes);
      if (!known.empty()) move_known(shape, fraction, known);
    }
    loaded_.push_back(std::move(tile));
  }

  /// Marks the pixels of the picture's grid that have too small a share of known ones.
  void move_known(const Shape& shape, const Point& fraction, std::vector<std::uint8_t>& known) {
    constexpr float rounding = 1e-5F;  // must not decide at exactly half
    const std::vector<float> mask(known.begin(), known.end());
    std::vector<float> shares(mask.size());
    const auto key = std::make_pair(shape.width, shape.height);
    auto found = mask_resamplers_.find(key);
    if (found == mask_resamplers_.end()) {
      found = mask_resamplers_
                  .try_emplace(key, device_, shape, PixelType::f32, spec_.distortion, mask_spline())
                  .first;
    }
    found->second.resample({mask.data(), PixelType::f32, shape.width, shape.height, 0}, fraction,
                           std::as_writable_bytes(std::span(shares)));
    for (std::size_t i = 0; i < shares.size(); ++i) {
      known[i] = shares[i] >= static_cast<float>(min_known_share) - rounding ? 1 : 0;
    }
  }

  void check_pixels(std::size_t i, const HostImage& image) const {
    if (image.shape() == tiles_[i].shape && image.type == spec_.type) return;
    refuse(stage, "tile " + std::to_string(i) + " is " + to_string(image.shape()) + " of type " +
                      name_of(image.type) + ", but " + to_string(tiles_[i].shape) + " of type " +
                      name_of(spec_.type) + " is expected");
  }

  TileResampler& resampler_of(const Shape& shape) {
    const auto key = std::make_pair(shape.width, shape.height);
    const auto found = resamplers_.find(key);
    if (found != resamplers_.end()) return found->second;
    return resamplers_.try_emplace(key, device_, shape, spec_.type, spec_.distortion).first->second;
  }

  const Device& device_;
  std::span<const MosaicTile> tiles_;
  std::span<const Point> positions_;
  const ChannelSource& source_;
  const FusionSpec& spec_;
  std::vector<std::size_t> by_top_;
  std::vector<PlacedTile> loaded_;
  std::map<std::pair<std::int64_t, std::int64_t>, TileResampler> resamplers_, mask_resamplers_;
};

void check(std::span<const MosaicTile> tiles, std::span<const Point> positions,
           const ChannelSource& source, const FusionSpec& spec, const RowSink& sink) {
  if (!source) refuse(stage, "source is empty; a source of pixels is needed");
  if (!sink) refuse(stage, "sink is empty; a sink for rows is needed");
  check_array(stage, "the picture", spec.picture);
  if (spec.picture.depth != 1) refuse(stage, "the picture's depth must be 1");
  check_grey(stage, "the picture", spec.type);
  if (spec.nodata && !can_hold(spec.type, *spec.nodata)) {
    refuse(stage, "no pixel of the type " + std::string(name_of(spec.type)) +
                      " can have the value " + std::to_string(*spec.nodata) + " of nodata");
  }
  if (spec.channels < 1) refuse(stage, "channels must be at least 1");
  if (spec.rows < 1) refuse(stage, "rows must be at least 1");
  if (positions.size() != tiles.size()) {
    refuse(stage, "there are " + std::to_string(positions.size()) + " positions for " +
                      std::to_string(tiles.size()) + " tiles; give one for each");
  }
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    check_shape(stage, ("tile " + std::to_string(i)).c_str(), tiles[i].shape);
    constexpr double far = 1 << 30;
    if (std::abs(positions[i].x) < far && std::abs(positions[i].y) < far) continue;
    refuse(stage, "the position of tile " + std::to_string(i) + " is not finite or beyond 2^30");
  }
}

}  // namespace

void fuse_tiles(const Device& device, std::span<const MosaicTile> tiles,
                std::span<const Point> positions, const ChannelSource& source,
                const FusionSpec& spec, const RowSink& sink) {
  check(tiles, positions, source, spec, sink);
  Fusion(device, tiles, positions, source, spec).run(sink);
}

}  // namespace warpalign
