// FreeSurfer's warps: a volume of the reference's size (.mgz, uncompressed .mgh) with three values
// for each voxel, which are the moving image's voxel or RAS coordinates, or their difference from
// the reference's. Both images' geometries follow the voxels, in tags.
#include "formats.hpp"
#include "freesurfer.hpp"
#include "fsl.hpp"
#include "matrices.hpp"
#include "text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::transform_files {
namespace {

// The first word has the version in its lowest byte, and above it what the voxels are.
constexpr std::uint32_t version = 1;
constexpr std::uint32_t warp_intent = 3, inverse_warp_intent = 4;
constexpr std::int32_t type_float = 3;
constexpr std::size_t header_size = 284;  // bytes in front of the voxels
constexpr std::size_t scan_size = 20;     // behind them: five numbers of the scan
constexpr std::size_t name_size = 512;

// Tags: a number, for some a length of 8 bytes, and the contents.
constexpr std::int32_t tag_old_colours = 1;
constexpr std::int32_t tag_geometry = 10;
constexpr std::int32_t tag_meta = 13;
constexpr std::int32_t tag_sheared_geometry = 15;

/// What the values of a warp are: the number in its tag.
enum class WarpValues : std::int32_t { voxels, voxel_differences, ras, ras_differences };

/// Numbers of a file, highest byte first.
class Words {
 public:
  explicit Words(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool at_end() const { return rest_.size() < 4; }
  void skip(std::uint64_t count) {
    if (count > rest_.size()) refuse("the file is cut short");
    rest_.remove_prefix(static_cast<std::size_t>(count));
  }
  template <class Unsigned>
  Unsigned next() {
    if (rest_.size() < sizeof(Unsigned)) refuse("the file is cut short");
    Unsigned value = 0;
    for (std::size_t i = 0; i < sizeof(Unsigned); ++i) {
      value = static_cast<Unsigned>(value << 8 | static_cast<unsigned char>(rest_[i]));
    }
    rest_.remove_prefix(sizeof(Unsigned));
    return value;
  }
  std::int32_t integer() { return std::bit_cast<std::int32_t>(next<std::uint32_t>()); }
  float real() { return std::bit_cast<float>(next<std::uint32_t>()); }
  void three(std::array<double, 3>& target) {
    for (double& value : target) value = static_cast<double>(real());
  }

 private:
  std::string_view rest_;
};

/// The spacing, the directions and the centre.
void read_position(Words& words, FreeSurferVolume& volume) {
  words.three(volume.spacing);
  for (auto& direction : volume.direction) words.three(direction);
  words.three(volume.centre);
}

std::optional<PointGrid> geometry_of_tag(Words& words, bool sheared) {
  const bool valid = words.integer() != 0;
  FreeSurferVolume volume;
  for (double& size : volume.size) size = words.integer();
  read_position(words, volume);
  if (sheared) {
    std::array<double, 3> shear{};
    words.three(shear);
    // FreeSurfer computes it in single precision.
    constexpr double none = 1e-4;
    if (std::any_of(shear.begin(), shear.end(), [](double s) { return std::abs(s) > none; })) {
      refuse("an image of the warp has sheared axes");
    }
  }
  words.skip(name_size);
  if (!valid) return std::nullopt;
  return grid_of(volume);
}

void skip_colours(Words& words) {
  const auto size = [&] {
    const std::int32_t value = words.integer();
    if (value < 0) refuse("its table of colours is damaged");
    return static_cast<std::uint64_t>(value);
  };
  if (words.integer() != -2) refuse("its table of colours is of an old version");
  static_cast<void>(words.integer());
  words.skip(size());
  for (std::uint64_t left = size(); left > 0; --left) {
    static_cast<void>(words.integer());
    words.skip(size());
    words.skip(16);
  }
}

/// What follows the voxels.
struct Tags {
  std::optional<PointGrid> moving, reference;
  std::optional<WarpValues> values;
};

Tags read_tags(Words& words) {
  Tags tags;
  while (!words.at_end()) {
    const std::int32_t tag = words.integer();
    if (tag == 0) break;
    if (tag == tag_old_colours) {
      skip_colours(words);
    } else if (tag == tag_geometry || tag == tag_sheared_geometry) {
      if (tag == tag_sheared_geometry) words.skip(8);  // its length, which is always the same
      tags.moving = geometry_of_tag(words, tag == tag_sheared_geometry);
      tags.reference = geometry_of_tag(words, tag == tag_sheared_geometry);
    } else if (tag == tag_meta) {
      const auto length = words.next<std::uint64_t>();
      if (length < 4) refuse("its description of the warp is cut short");
      const std::int32_t values = words.integer();
      if (values < 0 || values > static_cast<std::int32_t>(WarpValues::ras_differences)) {
        refuse("its values are of the unknown kind " + std::to_string(values));
      }
      tags.values = static_cast<WarpValues>(values);
      words.skip(length - 4);
    } else {
      words.skip(words.next<std::uint64_t>());
    }
  }
  return tags;
}

std::size_t voxels_of(const Shape& shape) {
  constexpr std::int64_t max_extent = 1 << 20;
  for (const std::int64_t extent : {shape.width, shape.height, shape.depth}) {
    if (extent < 1 || extent > max_extent) refuse("its size is invalid");
  }
  return static_cast<std::size_t>(shape.pixels());
}

/// All of x, then y and z, and nothing of a fourth value: FreeSurfer's labels.
std::vector<double> values_of(std::string_view bytes, std::size_t voxels) {
  if (voxels > bytes.size() / (3 * sizeof(float))) refuse("the file is cut short");
  Words words(bytes);
  std::vector<double> values(3 * voxels);
  for (double& value : values) {
    value = static_cast<double>(words.real());
    if (!std::isfinite(value)) refuse("it contains NaN or infinity");
  }
  return values;
}

Transform field_of(const PointGrid& grid, const std::vector<double>& values,
                   Coordinates coordinates) {
  const std::size_t voxels = values.size() / 3;
  const std::array<const double*, 3> components{values.data(), values.data() + voxels,
                                                values.data() + 2 * voxels};
  return Transform::displacement(grid, components, FieldInterpolation::linear, coordinates);
}

/// The positions of a grid's points: all of x, then y and z.
std::vector<double> positions_of(const Transform& transform, const PointGrid& grid) {
  const std::size_t voxels = static_cast<std::size_t>(grid.shape.pixels());
  std::vector<double> values(3 * voxels);
  const std::array<double*, 3> components{values.data(), values.data() + voxels,
                                          values.data() + 2 * voxels};
  transform.positions(grid, components);
  return values;
}

void make_relative(std::vector<double>& positions, const PointGrid& grid) {
  const Transform identity = affine(3, {}, Coordinates::pixels);
  const std::vector<double> own = positions_of(identity, grid);
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] -= own[i];
}

/// Writes numbers, highest byte first.
class Writer {
 public:
  template <class Unsigned>
  void add(Unsigned value) {
    for (std::size_t i = sizeof(Unsigned); i-- > 0;) text_ += static_cast<char>(value >> (8 * i));
  }
  void integer(std::int64_t value) {
    add(std::bit_cast<std::uint32_t>(static_cast<std::int32_t>(value)));
  }
  void real(double value) { add(std::bit_cast<std::uint32_t>(static_cast<float>(value))); }
  void zeros(std::size_t count) { text_.append(count, '\0'); }
  void reals(const std::array<double, 3>& values) {
    for (const double value : values) real(value);
  }
  void position(const FreeSurferVolume& volume) {
    reals(volume.spacing);
    for (const auto& direction : volume.direction) reals(direction);
    reals(volume.centre);
  }
  void geometry(const FreeSurferVolume& volume) {
    integer(1);  // valid
    for (const double size : volume.size) integer(static_cast<std::int64_t>(size));
    position(volume);
    zeros(name_size);
  }
  [[nodiscard]] std::size_t size() const { return text_.size(); }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

TransformFile read_mgz(std::string_view bytes, const Geometry& geometry) {
  Words header(bytes);
  const auto first = header.next<std::uint32_t>();
  if ((first & 0xFF) != version || first >> 16 != 0) refuse("it is no volume of FreeSurfer");
  if (first >> 8 == inverse_warp_intent) {
    refuse("it is an inverse warp: convert it with mri_warp_convert");
  }
  if (first >> 8 != warp_intent) refuse("it is an image of FreeSurfer, not a warp");
  Shape shape{header.integer(), header.integer(), header.integer()};
  const std::int32_t frames = header.integer();
  const std::size_t voxels = voxels_of(shape);
  if (frames != 3 && frames != 4) {
    refuse("it has " + std::to_string(frames) + " values for each voxel, not 3");
  }
  if (header.integer() != type_float) refuse("its values are not in single precision");
  header.skip(4);
  std::optional<PointGrid> own;
  if (header.next<std::uint16_t>() != 0) {
    FreeSurferVolume volume{.size = {static_cast<double>(shape.width),
                                     static_cast<double>(shape.height),
                                     static_cast<double>(shape.depth)}};
    read_position(header, volume);
    own = grid_of(volume);
  }
  if (bytes.size() < header_size) refuse("the file is cut short");
  const std::string_view body = bytes.substr(header_size);
  std::vector<double> values = values_of(body, voxels);
  Words behind(body);
  behind.skip(static_cast<std::uint64_t>(voxels) * static_cast<std::uint64_t>(frames) *
              sizeof(float));
  if (behind.at_end()) refuse("the description of the warp is missing; the file may be cut short");
  behind.skip(scan_size);
  const Tags tags = read_tags(behind);
  if (!tags.values) refuse("the description of the warp is missing; the file may be cut short");
  TransformFile file;
  file.geometry = {tags.reference ? tags.reference : own, tags.moving};
  if (!file.geometry.reference) file.geometry.reference = geometry.reference;
  if (!file.geometry.moving) file.geometry.moving = geometry.moving;
  if (file.geometry.reference && file.geometry.reference->shape != shape) {
    refuse("its field is " + to_string(shape) + " and the reference " +
           to_string(file.geometry.reference->shape) + "; they must be of the same size");
  }
  const bool differences =
      tags.values == WarpValues::voxel_differences || tags.values == WarpValues::ras_differences;
  if (*tags.values == WarpValues::voxels || *tags.values == WarpValues::voxel_differences) {
    const PointGrid pixels{.shape = shape};
    if (!differences) make_relative(values, pixels);
    Transform field = field_of(pixels, values, Coordinates::pixels);
    // In millimetres, the transform does not depend on the grids that the caller has.
    if (file.geometry.reference && file.geometry.moving) {
      field =
          field.in_coordinates(Coordinates::world, *file.geometry.reference, *file.geometry.moving);
    }
    file.transforms = {field};
    return file;
  }
  const std::optional<PointGrid> grid = file.geometry.reference;
  if (!grid) refuse("its values are RAS coordinates, and the reference's geometry is missing");
  // From RAS to LPS.
  for (std::size_t i = 0; i < 2 * voxels; ++i) values[i] = -values[i];
  if (!differences) make_relative(values, *grid);
  file.transforms = {field_of(*grid, values, Coordinates::world)};
  return file;
}

std::string write_mgz(const Transform& transform, const Geometry& geometry) {
  if (transform.dimensions() != 3) refuse("a warp of FreeSurfer maps volumes, not images");
  need_both(geometry, "a warp of FreeSurfer");
  const PointGrid pixels{.shape = geometry.reference->shape};
  std::vector<double> values = positions_of(transform, pixels);
  make_relative(values, pixels);
  if (!std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); })) {
    refuse("the transform is not defined at all voxels of the reference");
  }
  const FreeSurferVolume reference = freesurfer_volume_of(*geometry.reference);
  Writer writer;
  writer.add(warp_intent << 8 | version);
  for (const double size : reference.size) writer.integer(static_cast<std::int64_t>(size));
  writer.integer(3);
  writer.integer(type_float);
  writer.integer(1);  // degrees of freedom
  writer.add(std::uint16_t{1});
  writer.position(reference);
  writer.zeros(header_size - writer.size());
  for (const double value : values) writer.real(value);
  writer.zeros(scan_size);
  writer.integer(tag_geometry);
  writer.geometry(freesurfer_volume_of(*geometry.moving));
  writer.geometry(reference);
  writer.integer(tag_meta);
  writer.add(std::uint64_t{12});
  writer.integer(static_cast<std::int32_t>(WarpValues::voxel_differences));
  writer.integer(1);  // one sample for each voxel
  writer.real(0);     // a parameter of FreeSurfer's own registration
  return std::move(writer).text();
}

}  // namespace warpalign::transform_files
