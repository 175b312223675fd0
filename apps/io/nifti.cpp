// Reads and writes the voxels of NIfTI-1 and NIfTI-2.
#include "io/nifti.hpp"

#include "io/byte_order.hpp"
#include "io/gzip.hpp"
#include "io/input_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace warpalign::program {
namespace {

struct Datatype {
  int code;
  PixelType type;
};
constexpr Datatype datatypes[] = {{2, PixelType::u8},    {4, PixelType::i16},  {8, PixelType::i32},
                                  {16, PixelType::f32},  {64, PixelType::f64}, {256, PixelType::i8},
                                  {512, PixelType::u16}, {768, PixelType::u32}};
constexpr int code_of_int64 = 1024;
constexpr int code_of_uint64 = 1280;

[[noreturn]] void refuse_volume(const std::string& why) { throw FileError(why); }

std::string_view name_of_datatype(std::int64_t code) {
  switch (code) {
    case 1:
      return "bits";
    case 32:
    case 1792:
    case 2048:
      return "complex numbers";
    case 128:
    case 2304:
      return "colours";
    case 1536:
      return "floating-point numbers of 128 bits";
    default:
      return "numbers of an unknown type";
  }
}

bool has_64_bits(int code) { return code == code_of_int64 || code == code_of_uint64; }

/// The type in which voxels are read; for integers of 64 bits, one of the same size.
PixelType type_of_code(int code) {
  if (has_64_bits(code)) return PixelType::f64;
  for (const Datatype& datatype : datatypes) {
    if (datatype.code == code) return datatype.type;
  }
  refuse_volume(
      fmt::format("holds {} (type {}); volumes are integers of 8 to 64 bits, float32 or float64",
                  name_of_datatype(code), code));
}

std::vector<std::int64_t> extents_of(const NiftiHeader& header, NiftiContents contents) {
  const std::int64_t axes = header.dim(0);
  if (axes < 1 || axes > 7) {
    refuse_volume(fmt::format("is damaged: it claims to have {} axes", axes));
  }
  const std::size_t first = contents == NiftiContents::series ? 5 : 6;
  for (std::size_t i = first; i <= static_cast<std::size_t>(axes); ++i) {
    if (header.dim(i) > 1) {
      refuse_volume(
          fmt::format("holds {} values for each voxel along its axis {}; save one of them alone",
                      header.dim(i), i));
    }
  }
  if (axes < 3) {
    refuse_volume(fmt::format("has {} dimension{}; a volume has 3", axes, axes == 1 ? "" : "s"));
  }
  if (axes > 3 && header.dim(4) < 0) {
    refuse_volume(fmt::format("is damaged: it claims to hold {} volumes", header.dim(4)));
  }
  return {header.dim(3), header.dim(2), header.dim(1)};
}

template <typename To, typename From>
Array converted(const Array& wide, PixelType type) {
  Array narrow = make_array(wide.extents, type);
  std::ranges::transform(wide.samples<From>(), narrow.samples<To>().begin(),
                         [](From value) { return static_cast<To>(value); });
  return narrow;
}

/// Converts integers of 64 bits to the first type that holds all of them exactly.
template <typename Wide>
Array narrowed(const Array& wide) {
  const auto [least, most] = std::ranges::minmax(wide.samples<Wide>());
  constexpr std::int64_t max_exact = std::int64_t{1} << 53;  // of float64
  if (std::in_range<std::int32_t>(least) && std::in_range<std::int32_t>(most)) {
    return converted<std::int32_t, Wide>(wide, PixelType::i32);
  }
  if (std::in_range<std::uint32_t>(least) && std::in_range<std::uint32_t>(most)) {
    return converted<std::uint32_t, Wide>(wide, PixelType::u32);
  }
  if (std::cmp_greater_equal(least, -max_exact) && std::cmp_less_equal(most, max_exact)) {
    return converted<double, Wide>(wide, PixelType::f64);
  }
  refuse_volume(fmt::format(
      "holds integers of 64 bits from {} to {}; beyond 2^53 no type of volumes is exact", least,
      most));
}

template <typename Sample>
void scale_into(const Array& from, double slope, double intercept, Array& to) {
  std::ranges::transform(from.samples<Sample>(), to.samples<float>().begin(), [&](Sample sample) {
    return static_cast<float>(slope * static_cast<double>(sample) + intercept);
  });
}

int code_of(PixelType type) {
  for (const Datatype& datatype : datatypes) {
    if (datatype.type == type) return datatype.code;
  }
  refuse_volume(fmt::format("NIfTI cannot hold {}; use a name that ends in .npy",
                            type == PixelType::f16 ? "float16" : "complex64"));
}

std::string lower_name(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

/// The other name of a pair that exists: `ending` is ".hdr" or ".img".
std::filesystem::path partner_of(const std::filesystem::path& path, const std::string& ending) {
  std::filesystem::path stem = path;
  if (lower_name(stem).ends_with(".gz")) stem.replace_extension();
  stem.replace_extension(ending);
  std::filesystem::path compressed = stem;
  compressed += ".gz";
  std::error_code ignored;
  for (const std::filesystem::path& candidate : {stem, compressed}) {
    if (std::filesystem::exists(candidate, ignored)) return candidate;
  }
  refuse_volume(
      fmt::format("is one of a pair of files, but there is no {}", stem.filename().string()));
}

bool is_image_of_pair(const std::filesystem::path& path) {
  const std::string name = lower_name(path);
  return name.ends_with(".img") || name.ends_with(".img.gz");
}

NiftiVolume volume_of(NiftiReader& reader, std::optional<std::int64_t> number) {
  if (!number && reader.volumes() > 1) {
    refuse_volume(fmt::format(
        "holds {0} volumes: choose one with --volume N (0 to {1}), or align them to one another "
        "with 'warpalign stack'",
        reader.volumes(), reader.volumes() - 1));
  }
  if (number && (*number < 0 || *number >= reader.volumes())) {
    refuse_volume(fmt::format("holds {} volume{}, so there is no volume {} (they count from 0)",
                              reader.volumes(), reader.volumes() == 1 ? "" : "s", *number));
  }
  NiftiVolume volume;
  volume.header = reader.header();
  volume.geometry = nifti_geometry(reader.header());
  const NiftiScaling scaling = nifti_scaling(reader.header());
  reader.skip(number.value_or(0));
  volume.voxels = scaled_voxels(reader.next(), scaling);
  const bool last = number.value_or(0) + 1 == reader.volumes();
  if (last && reader.cut_short()) refuse_volume("is truncated: its checksum is missing");
  return volume;
}

}  // namespace

NiftiReader::NiftiReader(std::span<const std::byte> file, NiftiContents contents)
    : voxels_(file), file_(read_nifti_header(voxels_)) {
  if (file_.is_pair) {
    refuse_volume("is one of a pair of files (.hdr and .img), and the other one is missing");
  }
  begin(contents);
}

NiftiReader::NiftiReader(const std::filesystem::path& path, NiftiContents contents)
    : voxels_(is_image_of_pair(path) ? partner_of(path, ".hdr") : path),
      file_(read_nifti_header(voxels_)) {
  if (file_.is_pair) {
    voxels_ = ByteStream(is_image_of_pair(path) ? path : partner_of(path, ".img"));
  }
  begin(contents);
}

void NiftiReader::begin(NiftiContents contents) {
  const NiftiHeader& header = file_.header;
  extents_ = extents_of(header, contents);
  volumes_ = header.dim(0) > 3 ? std::max<std::int64_t>(header.dim(4), 1) : 1;
  if (contents == NiftiContents::vectors && header.dim(0) > 4 && header.dim(5) != 1) {
    if (volumes_ > 1) refuse_volume("holds several fields; save one of them alone");
    volumes_ = std::max<std::int64_t>(header.dim(5), 1);
  }
  code_ = static_cast<int>(header.integer(header.layout().datatype, 2));
  (void)type_of_code(code_);
  const std::uint64_t gap = nifti_voxel_offset(file_) - (file_.is_pair ? 0 : header.layout().size);
  if (voxels_.skip(gap) < gap) refuse_volume("is truncated: it ends before its voxels");
}

Array NiftiReader::next() {
  const PixelType type = type_of_code(code_);
  // Do not allocate memory for voxels that the file cannot contain.
  auto promised = static_cast<double>(size_of(type));
  for (const std::int64_t extent : extents_) {
    promised *= static_cast<double>(std::max<std::int64_t>(extent, 0));
  }
  const auto limit = static_cast<double>(voxels_.limit());
  if (promised > limit && promised <= static_cast<double>(max_array_bytes)) {
    refuse_volume(
        fmt::format("is truncated: its voxels take {:.0f} bytes, and there are {:.0f} at most",
                    promised, limit));
  }
  const double numbers = promised / static_cast<double>(size_of(type));
  if (numbers > static_cast<double>(max_pixels()) &&
      promised <= static_cast<double>(max_array_bytes)) {
    refuse_volume(
        fmt::format("has {:.0f} voxels, more than --max-pixels {} allows: crop or shrink it, or "
                    "raise the limit",
                    numbers, max_pixels()));
  }
  Array voxels = make_array(extents_, type);
  const std::size_t read = voxels_.read(voxels.bytes);
  if (read < voxels.bytes.size()) {
    refuse_volume(fmt::format("is truncated: its voxels take {} bytes, and there are {}",
                              voxels.bytes.size(), read));
  }
  if (file_.swapped) reverse_words(voxels.bytes, size_of(voxels.type));
  if (code_ == code_of_int64) return narrowed<std::int64_t>(voxels);
  if (code_ == code_of_uint64) return narrowed<std::uint64_t>(voxels);
  return voxels;
}

void NiftiReader::skip(std::int64_t volumes) {
  if (volumes == 0) return;
  // Checks the extents, and allocates nothing yet.
  std::uint64_t bytes = size_of(type_of_code(code_));
  for (const std::int64_t extent : extents_) {
    if (extent < 1 || bytes > static_cast<std::uint64_t>(max_array_bytes))
      return;  // next() refuses
    bytes *= static_cast<std::uint64_t>(extent);
  }
  for (std::int64_t i = 0; i < volumes; ++i) {
    if (voxels_.skip(bytes) < bytes) {
      refuse_volume(
          fmt::format("is truncated: it ends in the volume {} places before", volumes - i));
    }
  }
}

NiftiScaling nifti_scaling(const NiftiHeader& header) {
  const NiftiLayout& layout = header.layout();
  const NiftiScaling scaling{header.real(layout.scl_slope),
                             header.real(layout.scl_slope + layout.real_bytes)};
  if (!std::isfinite(scaling.slope) || !std::isfinite(scaling.intercept)) {
    refuse_volume("is damaged: its scl_slope or scl_inter is not a number");
  }
  return scaling.slope == 0 ? NiftiScaling{} : scaling;
}

Array scaled_voxels(Array voxels, const NiftiScaling& scaling) {
  if (scaling.is_identity()) return voxels;
  const double slope = scaling.slope;
  const double intercept = scaling.intercept;
  Array wide = make_array(voxels.extents, PixelType::f32);
  if (voxels.type == PixelType::u8) scale_into<std::uint8_t>(voxels, slope, intercept, wide);
  if (voxels.type == PixelType::i8) scale_into<std::int8_t>(voxels, slope, intercept, wide);
  if (voxels.type == PixelType::u16) scale_into<std::uint16_t>(voxels, slope, intercept, wide);
  if (voxels.type == PixelType::i16) scale_into<std::int16_t>(voxels, slope, intercept, wide);
  if (voxels.type == PixelType::u32) scale_into<std::uint32_t>(voxels, slope, intercept, wide);
  if (voxels.type == PixelType::i32) scale_into<std::int32_t>(voxels, slope, intercept, wide);
  if (voxels.type == PixelType::f32) scale_into<float>(voxels, slope, intercept, wide);
  if (voxels.type == PixelType::f64) scale_into<double>(voxels, slope, intercept, wide);
  return wide;
}

bool is_nifti_name(const std::filesystem::path& path) {
  const std::string name = lower_name(path);
  return name.ends_with(".nii") || name.ends_with(".nii.gz");
}

bool is_nifti_pair_name(const std::filesystem::path& path) {
  const std::string name = lower_name(path);
  return is_image_of_pair(path) || name.ends_with(".hdr") || name.ends_with(".hdr.gz");
}

NiftiVolume read_nifti(std::span<const std::byte> file, std::optional<std::int64_t> volume) {
  NiftiReader reader(file);
  return volume_of(reader, volume);
}

NiftiVolume load_nifti(const std::filesystem::path& path, std::optional<std::int64_t> volume) {
  try {
    NiftiReader reader(path);
    return volume_of(reader, volume);
  } catch (const FileError& error) {
    throw FileError(fmt::format("{}: {}", path.string(), error.what()));
  }
}

std::vector<std::byte> nifti_file_start(const std::vector<std::int64_t>& extents, PixelType type,
                                        const NiftiHeader& inherited, std::int64_t volumes,
                                        bool keep_scaling, std::int64_t components) {
  NiftiHeader header = inherited;
  const NiftiLayout& layout = header.layout();
  const std::int64_t axes = components > 1 ? 5 : volumes > 1 ? 4 : 3;
  const std::array<std::int64_t, 8> dim{axes,    extents[2], extents[1], extents[0],
                                        volumes, components, 1,          1};
  for (std::size_t i = 0; i < dim.size(); ++i) {
    if (layout.dim_bytes == 2 && dim[i] > 32767) {
      refuse_volume(
          "NIfTI-1 holds at most 32767 voxels along a side; use a name that ends in .npy");
    }
    header.set_integer(layout.dim + i * layout.dim_bytes, layout.dim_bytes, dim[i]);
  }
  header.set_magic(layout.in_one_piece);
  header.set_integer(layout.datatype, 2, code_of(type));
  header.set_integer(layout.bitpix, 2, static_cast<std::int64_t>(8 * size_of(type)));
  if (!keep_scaling) {
    header.set_real(layout.scl_slope, 1);
    header.set_real(layout.scl_slope + layout.real_bytes, 0);
    // Clear the display range, which was that of the reference.
    header.set_real(layout.cal_max, 0);
    header.set_real(layout.cal_max + layout.real_bytes, 0);
  }
  const std::size_t offset = layout.size + nifti_extension_bytes;
  if (layout.offset_is_real) {
    header.set_real(layout.vox_offset, static_cast<double>(offset));
  } else {
    header.set_integer(layout.vox_offset, 8, static_cast<std::int64_t>(offset));
  }
  std::vector<std::byte> start = header.bytes();
  start.resize(offset);
  return start;
}

std::vector<std::byte> write_nifti(const Array& voxels, const NiftiHeader& header,
                                   bool compressed) {
  std::vector<std::byte> file = nifti_file_start(voxels.extents, voxels.type, header);
  file.insert(file.end(), voxels.bytes.begin(), voxels.bytes.end());
  return compressed ? compress_gzip(file) : file;
}

}  // namespace warpalign::program
