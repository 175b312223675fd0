// Displacement fields in NIfTI files.
#include "io/nifti_field.hpp"

#include "io/byte_order.hpp"
#include "io/gzip.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace warpalign::program {
namespace {

using transform_files::FieldImage;

// Fields of fnirt have their components along the fourth axis, those of the others along the fifth.
constexpr int fnirt_intent = 2006;

template <typename Sample>
void append_as_double(const Array& component, std::vector<double>& samples) {
  const auto values = component.samples<Sample>();
  samples.insert(samples.end(), values.begin(), values.end());
}

void append(const Array& component, std::vector<double>& samples) {
  switch (component.type) {
    case PixelType::u8:
      return append_as_double<std::uint8_t>(component, samples);
    case PixelType::i8:
      return append_as_double<std::int8_t>(component, samples);
    case PixelType::u16:
      return append_as_double<std::uint16_t>(component, samples);
    case PixelType::i16:
      return append_as_double<std::int16_t>(component, samples);
    case PixelType::u32:
      return append_as_double<std::uint32_t>(component, samples);
    case PixelType::i32:
      return append_as_double<std::int32_t>(component, samples);
    case PixelType::f32:
      return append_as_double<float>(component, samples);
    default:
      return append_as_double<double>(component, samples);
  }
}

FieldImage field_of(NiftiReader& reader) {
  const NiftiHeader& header = reader.header();
  const std::int64_t components = reader.volumes();
  const bool flat = reader.extents()[0] == 1;
  if (components != 3 && !(components == 2 && flat)) {
    throw FileError(
        fmt::format("is an image of {} x {} x {} voxels with {} value{} each, no field "
                    "of 2 or 3 components",
                    reader.extents()[2], reader.extents()[1], reader.extents()[0], components,
                    components == 1 ? "" : "s"));
  }
  FieldImage image;
  image.grid = grid_of_nifti(reader);
  image.dimensions = static_cast<int>(components);
  image.intent = {.code = static_cast<int>(header.intent_code()),
                  .name = header.intent_name(),
                  .parameter = header.intent_parameter()};
  const NiftiScaling scaling = nifti_scaling(header);
  for (std::int64_t i = 0; i < components; ++i) {
    const Array component = scaled_voxels(reader.next(), scaling);
    image.single_precision = component.type != PixelType::f64;
    append(component, image.samples);
  }
  if (reader.cut_short()) throw FileError("is truncated: its checksum is missing");
  return image;
}

/// Maps indices to RAS millimetres.
HomogeneousMatrix ras_of(const PointGrid& grid) {
  HomogeneousMatrix matrix = grid.index_to_point();
  for (std::size_t i = 0; i < 8; ++i) matrix.m[i] = -matrix.m[i];
  return matrix;
}

}  // namespace

PointGrid grid_of_nifti(const NiftiReader& reader) {
  const std::vector<std::int64_t>& extents = reader.extents();
  const auto ras = nifti_geometry(reader.header()).index_to_world.m;
  PointGrid grid{.shape = {extents[2], extents[1], extents[0]},
                 .origin = {-ras[3], -ras[7], ras[11]}};
  std::array<double, 3> spacing{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    spacing[axis] = std::hypot(ras[axis], ras[4 + axis], ras[8 + axis]);
    if (!(spacing[axis] > 0) || !std::isfinite(spacing[axis])) {
      throw FileError("its header gives voxels without an extent");
    }
    for (std::size_t row = 0; row < 3; ++row) {
      const double sign = row < 2 ? -1 : 1;  // LPS
      grid.direction[3 * row + axis] = sign * ras[4 * row + axis] / spacing[axis];
    }
  }
  grid.spacing = {spacing[0], spacing[1], spacing[2]};
  return grid;
}

bool is_nifti(std::span<const std::byte> bytes) {
  if (is_gzip(bytes)) return true;
  if (bytes.size() < nifti1.size) return false;
  std::array<std::byte, 4> first{};
  std::memcpy(first.data(), bytes.data(), first.size());
  for (int order = 0; order < 2; ++order) {
    std::int32_t size = 0;
    std::memcpy(&size, first.data(), sizeof size);
    if (size == static_cast<std::int32_t>(nifti1.size) ||
        size == static_cast<std::int32_t>(nifti2.size)) {
      return true;
    }
    reverse_words(first, first.size());
  }
  return false;
}

FieldImage read_field_image(const std::filesystem::path& path) {
  NiftiReader reader(path, NiftiContents::vectors);
  return field_of(reader);
}

FieldImage read_field_image(std::span<const std::byte> file) {
  NiftiReader reader(file, NiftiContents::vectors);
  return field_of(reader);
}

std::vector<std::byte> write_field_image(const FieldImage& image, bool compressed) {
  const PointGrid& grid = image.grid;
  NiftiHeader header = plain_nifti_header({grid.spacing.x, grid.spacing.y, grid.spacing.z});
  header.set_sform(ras_of(grid));
  header.set_intent(image.intent.code, image.intent.name, image.intent.parameter);
  const std::int64_t components = image.dimensions;
  const bool along_fourth = image.intent.code == fnirt_intent;
  std::vector<std::byte> file =
      nifti_file_start({grid.shape.depth, grid.shape.height, grid.shape.width}, PixelType::f32,
                       header, along_fourth ? components : 1, false, along_fourth ? 1 : components);
  const std::vector<float> values(image.samples.begin(), image.samples.end());
  const auto bytes = std::as_bytes(std::span(values));
  file.insert(file.end(), bytes.begin(), bytes.end());
  return compressed ? compress_gzip(file) : file;
}

}  // namespace warpalign::program
