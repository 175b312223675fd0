// Volumes in files: .npy arrays of three dimensions, and NIfTI.
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

VolumeFile from_npy(const std::string& name) {
  VolumeFile file{name, load_npy(name), {}, {}, {}};
  if (file.voxels.dimensions() != 3) {
    throw FileError(fmt::format("{}: has {} dimension{}; a volume has 3 (depth, height, width)",
                                name, file.voxels.dimensions(),
                                file.voxels.dimensions() == 1 ? "" : "s"));
  }
  return file;
}

VolumeFile from_nifti(const std::string& name) {
  NiftiVolume volume = load_nifti(name);
  return {name, std::move(volume.voxels), volume.spacing, volume.left_handed,
          std::move(volume.header)};
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
    return is_nifti_name(name) || is_gzip(file.head()) || starts_like_nifti(file.head());
  } catch (const FileError& error) {
    throw FileError(fmt::format("{}: {}", name, error.what()));
  }
}

}  // namespace

VolumeFile load_volume(const std::string& name) {
  if (is_npy(name)) return from_npy(name);
  if (looks_like_nifti(name)) return from_nifti(name);
  throw FileError(fmt::format("{}: is not a volume (supported: .npy, .nii and .nii.gz)", name));
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
