// Volumes in files: .npy arrays and NIfTI.
#include "io/volume_file.hpp"

#include "io/array_file.hpp"
#include "io/file_bytes.hpp"
#include "io/gzip.hpp"
#include "io/usage_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace warpalign::program {
namespace {

constexpr int max_npy_dimensions = 4;

/// Removes the first axis: keeps one volume of the array.
Array volume_of(const Array& series, std::int64_t number) {
  Array volume = make_array({series.extents[1], series.extents[2], series.extents[3]}, series.type);
  const std::size_t bytes = volume.bytes.size();
  std::memcpy(volume.bytes.data(), series.bytes.data() + static_cast<std::size_t>(number) * bytes,
              bytes);
  return volume;
}

VolumeFile from_npy(const std::string& name, std::optional<std::int64_t> volume) {
  VolumeFile file{name, load_npy(name, max_npy_dimensions), {}, {}, {}, {}};
  Array& voxels = file.voxels;
  if (voxels.dimensions() < 3) {
    throw FileError(fmt::format("{}: has {} dimension{}; a volume has 3 (depth, height, width)",
                                name, voxels.dimensions(), voxels.dimensions() == 1 ? "" : "s"));
  }
  const std::int64_t count = voxels.dimensions() == 4 ? voxels.extents[0] : 1;
  if (voxels.dimensions() == 4 && !volume) {
    throw FileError(
        fmt::format("{0}: has 4 dimensions: {1} volumes; choose one with --volume N (0 to {2}), or "
                    "align them to one another with 'warpalign stack'",
                    name, count, count - 1));
  }
  if (volume && (*volume < 0 || *volume >= count)) {
    throw FileError(
        fmt::format("{}: holds {} volume{}, so there is no volume {} (they count from "
                    "0)",
                    name, count, count == 1 ? "" : "s", *volume));
  }
  if (voxels.dimensions() == 4) voxels = volume_of(voxels, *volume);
  return file;
}

VolumeFile from_nifti(const std::string& name, std::optional<std::int64_t> number) {
  NiftiVolume volume = load_nifti(name, number);
  VolumeFile file{name,
                  std::move(volume.voxels),
                  volume.geometry.spacing,
                  {},
                  std::move(volume.geometry.contradiction),
                  std::move(volume.header)};
  if (volume.geometry.has_position) file.index_to_world = volume.geometry.index_to_world;
  return file;
}

/// Whether the head is that of NIfTI: a header starts with its own size, 348 or 540, in either byte
/// order.
bool starts_like_nifti(std::span<const std::byte> head) {
  if (head.size() < 4) return false;
  const auto is = [&](std::initializer_list<int> bytes) {
    return std::equal(bytes.begin(), bytes.end(), head.begin(), [](int wanted, std::byte found) {
      return std::to_integer<int>(found) == wanted;
    });
  };
  return is({0x5c, 1, 0, 0}) || is({0, 0, 1, 0x5c}) || is({0x1c, 2, 0, 0}) || is({0, 0, 2, 0x1c});
}

bool looks_like_nifti(const std::string& name) {
  try {
    const FileBytes file(name);
    return is_nifti_name(name) || is_nifti_pair_name(name) || is_gzip(file.head()) ||
           starts_like_nifti(file.head());
  } catch (const FileError& error) {
    throw FileError(fmt::format("{}: {}", name, error.what()));
  }
}

}  // namespace

VolumeFile load_volume(const std::string& name, std::optional<std::int64_t> volume) {
  if (is_npy(name)) return from_npy(name, volume);
  if (looks_like_nifti(name)) return from_nifti(name, volume);
  throw FileError(fmt::format(
      "{}: is not a volume (supported: .npy, .nii, .nii.gz, and pairs of .hdr and .img)", name));
}

std::int64_t count_volumes(const std::string& name) {
  if (is_npy(name)) {
    const Array array = load_npy(name, max_npy_dimensions);
    return array.dimensions() == 4 ? array.extents[0] : 1;
  }
  if (!looks_like_nifti(name)) return 1;
  try {
    return NiftiReader(name).volumes();
  } catch (const FileError& error) {
    throw FileError(fmt::format("{}: {}", name, error.what()));
  }
}

Array load_volume_mask(const std::string& name, const VolumeFile& volume) {
  const VolumeFile file = load_volume(name);
  const Array& found = file.voxels;
  if (found.extents != volume.voxels.extents) {
    throw UsageError(
        fmt::format("{}: is {}, but {} is {}; a mask must have the shape of its volume", name,
                    to_string(found.shape()), volume.name, to_string(volume.voxels.shape())));
  }
  if (found.type == PixelType::c32) {
    throw UsageError(fmt::format("{}: holds complex numbers; a mask must be real", name));
  }
  const Array numbers = to_float(found);
  Array mask = make_array(found.extents, PixelType::u8);
  const auto from = numbers.samples<float>();
  const auto to = mask.samples<std::uint8_t>();
  std::transform(from.begin(), from.end(), to.begin(),
                 [](float number) { return std::uint8_t{number != 0 && !std::isnan(number)}; });
  if (std::none_of(to.begin(), to.end(), [](std::uint8_t m) { return m != 0; })) {
    throw UsageError(fmt::format(
        "{}: is 0 everywhere, which excludes every voxel; 0 marks voxels to ignore", name));
  }
  return mask;
}

void check_volume_storable(const std::string& name, const std::vector<std::int64_t>& extents,
                           PixelType type) {
  check_extents(name, extents, type);
  if (is_nifti_name(name) && (type == PixelType::f16 || type == PixelType::c32)) {
    throw FileError(fmt::format("{}: NIfTI cannot hold {}; use a name that ends in .npy", name,
                                type == PixelType::f16 ? "float16" : "complex64"));
  }
}

std::vector<std::byte> encode_volume(const std::string& name, const Array& voxels,
                                     const VolumeFile& reference,
                                     const std::array<double, 3>& spacing) {
  if (is_npy_name(name)) return write_npy(voxels);
  const bool compressed = std::filesystem::path(name).extension() != ".nii";
  return write_nifti(voxels, reference.header ? *reference.header : plain_nifti_header(spacing),
                     compressed);
}

}  // namespace warpalign::program
