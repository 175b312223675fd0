// Reads and writes NIfTI-1 and NIfTI-2 as a single file. Offsets of header members are from
// nifti1.h and nifti2.h.
#include "io/nifti.hpp"

#include "io/byte_order.hpp"
#include "io/file_bytes.hpp"
#include "io/gzip.hpp"
#include "io/input_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <string_view>

namespace warpalign::program {
namespace {

/// The offsets and widths of the members.
struct Layout {
  std::size_t size;
  std::size_t magic;
  std::string_view in_one_piece, pair;
  std::size_t dim, dim_bytes;
  std::size_t datatype;
  std::size_t bitpix;
  std::size_t pixdim, real_bytes;
  std::size_t vox_offset;
  bool offset_is_real;
  std::size_t scl_slope;
  std::size_t cal_max;
  std::size_t xyzt_units, units_bytes;
  std::size_t qform_code, sform_code, code_bytes;
  std::size_t srow;
};

constexpr Layout nifti1{348, 344,  "n+1", "ni1", 40,  2, 70,  72,  76, 4,
                        108, true, 112,   124,   123, 1, 252, 254, 2,  280};
constexpr Layout nifti2{540, 4,     "n+2", "ni2", 16,  8, 12,  14,  104, 8,
                        168, false, 176,   192,   500, 4, 344, 348, 4,   400};

/// The four bytes after the header that tell whether extensions follow.
constexpr std::size_t extension_bytes = 4;

struct Datatype {
  int code;
  PixelType type;
};
constexpr Datatype datatypes[] = {{2, PixelType::u8},    {4, PixelType::i16},  {8, PixelType::i32},
                                  {16, PixelType::f32},  {64, PixelType::f64}, {256, PixelType::i8},
                                  {512, PixelType::u16}, {768, PixelType::u32}};

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
    case 1024:
    case 1280:
      return "integers of 64 bits";
    case 1536:
      return "floating-point numbers of 128 bits";
    default:
      return "numbers of an unknown type";
  }
}

class Header {
 public:
  Header(std::vector<std::byte> bytes, const Layout& layout)
      : bytes_(std::move(bytes)), layout_(layout) {}

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

  [[nodiscard]] std::int64_t integer(std::size_t at, std::size_t bytes) const {
    if (bytes == 1) return get<std::uint8_t>(at);
    if (bytes == 2) return get<std::int16_t>(at);
    if (bytes == 4) return get<std::int32_t>(at);
    return get<std::int64_t>(at);
  }
  [[nodiscard]] double real(std::size_t at) const {
    return layout_.real_bytes == 4 ? static_cast<double>(get<float>(at)) : get<double>(at);
  }
  [[nodiscard]] std::int64_t dim(std::size_t i) const {
    return integer(layout_.dim + i * layout_.dim_bytes, layout_.dim_bytes);
  }
  [[nodiscard]] double pixdim(std::size_t i) const {
    return real(layout_.pixdim + i * layout_.real_bytes);
  }
  /// b, c and d of the qform's quaternion, then the offset.
  [[nodiscard]] double qform(std::size_t i) const {
    return real(layout_.srow + i * layout_.real_bytes - 6 * layout_.real_bytes);
  }
  [[nodiscard]] double srow(std::size_t row, std::size_t column) const {
    return real(layout_.srow + (4 * row + column) * layout_.real_bytes);
  }

  void set_integer(std::size_t at, std::size_t bytes, std::int64_t value) {
    if (bytes == 1) put(at, static_cast<std::uint8_t>(value));
    if (bytes == 2) put(at, static_cast<std::int16_t>(value));
    if (bytes == 4) put(at, static_cast<std::int32_t>(value));
    if (bytes == 8) put(at, value);
  }
  void set_real(std::size_t at, double value) {
    if (layout_.real_bytes == 4) {
      put(at, static_cast<float>(value));
    } else {
      put(at, value);
    }
  }

 private:
  template <typename Number>
  [[nodiscard]] Number get(std::size_t at) const {
    Number number;
    std::memcpy(&number, bytes_.data() + at, sizeof number);
    return number;
  }
  template <typename Number>
  void put(std::size_t at, Number number) {
    std::memcpy(bytes_.data() + at, &number, sizeof number);
  }

  std::vector<std::byte> bytes_;
  const Layout& layout_;
};

/// Reverses the bytes of the numbers that this file reads or passes on.
void swap_members(std::span<std::byte> bytes, const Layout& layout) {
  const auto swap = [&](std::size_t at, std::size_t count, std::size_t word) {
    reverse_words(bytes.subspan(at, count * word), word);
  };
  swap(0, 1, 4);
  swap(layout.dim, 8, layout.dim_bytes);
  swap(layout.datatype, 2, 2);
  swap(layout.pixdim, 8, layout.real_bytes);
  if (layout.size == nifti1.size) {
    swap(32, 1, 4);    // extents
    swap(36, 1, 2);    // session_error
    swap(56, 3, 4);    // intent_p1 to intent_p3
    swap(68, 1, 2);    // intent_code
    swap(74, 1, 2);    // slice_start
    swap(108, 3, 4);   // vox_offset, scl_slope, scl_inter
    swap(120, 1, 2);   // slice_end
    swap(124, 6, 4);   // cal_max to glmin
    swap(252, 2, 2);   // qform_code, sform_code
    swap(256, 18, 4);  // quatern_b to srow_z
  } else {
    swap(80, 3, 8);    // intent_p1 to intent_p3
    swap(168, 9, 8);   // vox_offset to slice_end
    swap(344, 2, 4);   // qform_code, sform_code
    swap(352, 18, 8);  // quatern_b to srow_z
    swap(496, 3, 4);   // slice_code, xyzt_units, intent_code
  }
}

[[noreturn]] void refuse(const std::string& why) { throw FileError(why); }

std::int32_t first_number(std::span<const std::byte> bytes) {
  std::int32_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

/// Sequential access to the content of the file, compressed or not.
class Source {
 public:
  explicit Source(std::span<const std::byte> file) : rest_(file) {
    if (is_gzip(file)) gzip_ = std::make_unique<GzipReader>(file);
  }

  /// Whether a compressed file ends before its checksum.
  [[nodiscard]] bool cut_short() {
    std::byte next{};
    return gzip_ && read(std::span(&next, 1)) == 0 && !gzip_->ended();
  }

  /// An upper bound of the number of bytes.
  [[nodiscard]] std::size_t limit() const {
    return gzip_ ? max_gzip_ratio * rest_.size() : rest_.size();
  }

  [[nodiscard]] std::size_t read(std::span<std::byte> target) {
    if (gzip_) return gzip_->read(target);
    const std::size_t count = std::min(target.size(), rest_.size());
    std::copy_n(rest_.begin(), count, target.begin());
    rest_ = rest_.subspan(count);
    return count;
  }

 private:
  std::span<const std::byte> rest_;
  std::unique_ptr<GzipReader> gzip_;
};

struct FoundHeader {
  Header header;
  bool swapped;
};

FoundHeader read_header(Source& source) {
  std::vector<std::byte> bytes(nifti1.size);
  if (source.read(bytes) < bytes.size()) refuse("is too short to be NIfTI");
  std::int32_t size = first_number(bytes);
  auto other = bytes;
  reverse_words(std::span(other).first(4), 4);
  const bool swapped = size != static_cast<std::int32_t>(nifti1.size) &&
                       size != static_cast<std::int32_t>(nifti2.size);
  if (swapped) size = first_number(other);
  const Layout& layout = size == static_cast<std::int32_t>(nifti2.size) ? nifti2 : nifti1;
  if (size != static_cast<std::int32_t>(layout.size)) {
    refuse("is not NIfTI: its header has another size");
  }
  bytes.resize(layout.size);
  const auto more = std::span(bytes).subspan(nifti1.size);
  if (source.read(more) < more.size()) refuse("is too short to be NIfTI");
  const auto magic = [&](std::string_view wanted) {
    return std::memcmp(bytes.data() + layout.magic, wanted.data(), wanted.size()) == 0;
  };
  if (magic(layout.pair)) {
    refuse("is one of a pair of files (.hdr and .img); convert them to one .nii");
  }
  if (!magic(layout.in_one_piece)) refuse("is not NIfTI: its header has no 'n+1' or 'n+2'");
  if (swapped) swap_members(bytes, layout);
  return {Header(std::move(bytes), layout), swapped};
}

std::vector<std::int64_t> extents_of(const Header& header) {
  const std::int64_t axes = header.dim(0);
  if (axes < 1 || axes > 7) refuse(fmt::format("is damaged: it claims to have {} axes", axes));
  for (std::size_t i = 4; i <= static_cast<std::size_t>(axes); ++i) {
    if (header.dim(i) > 1) {
      refuse(fmt::format("holds {} volumes along its axis {}; save one of them alone",
                         header.dim(i), i));
    }
  }
  if (axes < 3) {
    refuse(fmt::format("has {} dimension{}; a volume has 3", axes, axes == 1 ? "" : "s"));
  }
  return {header.dim(3), header.dim(2), header.dim(1)};
}

PixelType type_of(const Header& header) {
  const std::int64_t code = header.integer(header.layout().datatype, 2);
  for (const Datatype& datatype : datatypes) {
    if (datatype.code == code) return datatype.type;
  }
  refuse(fmt::format("holds {} (type {}); volumes are integers of 8 to 32 bits, float32 or float64",
                     name_of_datatype(code), code));
}

/// Reads up to the first voxel.
void skip_to_voxels(Source& source, const Header& header) {
  const Layout& layout = header.layout();
  const double offset = layout.offset_is_real
                            ? header.real(layout.vox_offset)
                            : static_cast<double>(header.integer(layout.vox_offset, 8));
  // Extensions are notes of a few kilobytes.
  constexpr double max_offset = 1 << 28;
  if (!(offset >= static_cast<double>(layout.size)) || !(offset <= max_offset)) {
    refuse(fmt::format("is damaged: its voxels begin at byte {}", offset));
  }
  if (offset > static_cast<double>(layout.size + source.limit())) {
    refuse("is truncated: it ends before its voxels");
  }
  std::vector<std::byte> skipped(static_cast<std::size_t>(offset) - layout.size);
  if (source.read(skipped) < skipped.size()) refuse("is truncated: it ends before its voxels");
}

Array read_voxels(Source& source, const Header& header, bool swapped) {
  const std::vector<std::int64_t> extents = extents_of(header);
  const PixelType type = type_of(header);
  // Do not allocate memory for voxels that the file cannot contain.
  auto promised = static_cast<double>(size_of(type));
  for (const std::int64_t extent : extents)
    promised *= static_cast<double>(std::max<std::int64_t>(extent, 0));
  const auto limit = static_cast<double>(source.limit());
  if (promised > limit && promised <= static_cast<double>(max_array_bytes)) {
    refuse(fmt::format("is truncated: its voxels take {:.0f} bytes, and there are {:.0f} at most",
                       promised, limit));
  }
  const double numbers = promised / static_cast<double>(size_of(type));
  if (numbers > static_cast<double>(max_pixels()) &&
      promised <= static_cast<double>(max_array_bytes)) {
    refuse(
        fmt::format("has {:.0f} voxels, more than --max-pixels {} allows: crop or shrink it, or "
                    "raise the limit",
                    numbers, max_pixels()));
  }
  Array voxels = make_array(extents, type);
  const std::size_t read = source.read(voxels.bytes);
  if (read < voxels.bytes.size()) {
    refuse(fmt::format("is truncated: its voxels take {} bytes, and there are {}",
                       voxels.bytes.size(), read));
  }
  if (source.cut_short()) refuse("is truncated: its checksum is missing");
  if (swapped) reverse_words(voxels.bytes, size_of(voxels.type));
  return voxels;
}

template <typename Sample>
void scale_into(const Array& from, double slope, double intercept, Array& to) {
  std::ranges::transform(from.samples<Sample>(), to.samples<float>().begin(), [&](Sample sample) {
    return static_cast<float>(slope * static_cast<double>(sample) + intercept);
  });
}

Array scaled(Array voxels, double slope, double intercept) {
  if (!std::isfinite(slope) || !std::isfinite(intercept)) {
    refuse("is damaged: its scl_slope or scl_inter is not a number");
  }
  if (slope == 0 || (slope == 1 && intercept == 0)) return voxels;
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

bool has_sform(const Header& header) {
  return header.integer(header.layout().sform_code, header.layout().code_bytes) > 0;
}

/// The unit of lengths, in millimetres.
double unit_of(const Header& header) {
  const std::int64_t unit =
      header.integer(header.layout().xyzt_units, header.layout().units_bytes) & 7;
  // Metres and micrometres. Files without a unit are almost always in millimetres.
  return unit == 1 ? 1000 : unit == 3 ? 0.001 : 1;
}

/// The geometry of the voxels: from the sform if there is one, else from pixdim.
std::array<double, 3> spacing_of(const Header& header) {
  const double millimetres = unit_of(header);
  std::array<double, 3> spacing{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double distance =
        has_sform(header)
            ? std::hypot(header.srow(0, axis), header.srow(1, axis), header.srow(2, axis))
            : header.pixdim(axis + 1);
    spacing[axis] = distance * millimetres;
  }
  return spacing;
}

std::optional<bool> left_handed(const Header& header) {
  if (has_sform(header)) {
    const auto s = [&](std::size_t i, std::size_t j) { return header.srow(i, j); };
    return s(0, 0) * (s(1, 1) * s(2, 2) - s(1, 2) * s(2, 1)) -
               s(0, 1) * (s(1, 0) * s(2, 2) - s(1, 2) * s(2, 0)) +
               s(0, 2) * (s(1, 0) * s(2, 1) - s(1, 1) * s(2, 0)) <
           0;
  }
  const Layout& layout = header.layout();
  if (header.integer(layout.qform_code, layout.code_bytes) > 0) return header.pixdim(0) < 0;
  return std::nullopt;
}

bool has_qform(const Header& header) {
  return header.integer(header.layout().qform_code, header.layout().code_bytes) > 0;
}

/// The rotation of the qform, row by row, with the third column mirrored if the header says so.
std::array<double, 9> qform_rotation(const Header& header) {
  const double b = header.qform(0);
  const double c = header.qform(1);
  const double d = header.qform(2);
  const double a = std::sqrt(std::max(0.0, 1 - b * b - c * c - d * d));
  const double side = header.pixdim(0) < 0 ? -1 : 1;
  return {a * a + b * b - c * c - d * d,
          2 * (b * c - a * d),
          side * 2 * (b * d + a * c),
          2 * (b * c + a * d),
          a * a + c * c - b * b - d * d,
          side * 2 * (c * d - a * b),
          2 * (b * d - a * c),
          2 * (c * d + a * b),
          side * (a * a + d * d - b * b - c * c)};
}

/// See NiftiVolume.
std::array<double, 12> index_to_ras(const Header& header) {
  const std::array<double, 9> rotation =
      has_qform(header) ? qform_rotation(header) : std::array<double, 9>{1, 0, 0, 0, 1, 0, 0, 0, 1};
  std::array<double, 12> matrix{};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      double value = 0;
      if (has_sform(header)) {
        value = header.srow(row, column);
      } else if (column < 3) {
        value = rotation[3 * row + column] * header.pixdim(column + 1);
      } else if (has_qform(header)) {
        value = header.qform(3 + row);
      }
      matrix[4 * row + column] = value * unit_of(header);
    }
  }
  return matrix;
}

int code_of(PixelType type) {
  for (const Datatype& datatype : datatypes) {
    if (datatype.type == type) return datatype.code;
  }
  refuse(fmt::format("NIfTI cannot hold {}; use a name that ends in .npy",
                     type == PixelType::f16 ? "float16" : "complex64"));
}

}  // namespace

bool is_nifti_name(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name.ends_with(".nii") || name.ends_with(".nii.gz");
}

NiftiVolume read_nifti(std::span<const std::byte> file) {
  Source source(file);
  const auto [header, swapped] = read_header(source);
  skip_to_voxels(source, header);
  NiftiVolume volume;
  const std::size_t slope = header.layout().scl_slope;
  volume.voxels = scaled(read_voxels(source, header, swapped), header.real(slope),
                         header.real(slope + header.layout().real_bytes));
  volume.spacing = spacing_of(header);
  volume.left_handed = left_handed(header);
  volume.index_to_ras = index_to_ras(header);
  volume.header.bytes = header.bytes();
  return volume;
}

NiftiVolume load_nifti(const std::filesystem::path& path) {
  try {
    FileBytes file(path);
    return read_nifti(file.all());
  } catch (const FileError& error) {
    throw FileError(fmt::format("{}: {}", path.string(), error.what()));
  }
}

NiftiHeader plain_nifti_header(const std::array<double, 3>& spacing) {
  std::vector<std::byte> bytes(nifti1.size);
  std::memcpy(bytes.data() + nifti1.magic, "n+1", 4);
  Header header(std::move(bytes), nifti1);
  header.set_integer(0, 4, static_cast<std::int64_t>(nifti1.size));
  header.set_real(nifti1.pixdim, 1);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    header.set_real(nifti1.pixdim + (axis + 1) * nifti1.real_bytes, spacing[axis]);
  }
  header.set_integer(nifti1.xyzt_units, nifti1.units_bytes, 2);  // millimetres
  return {header.bytes()};
}

std::vector<std::byte> write_nifti(const Array& voxels, const NiftiHeader& inherited,
                                   bool compressed) {
  const Layout& layout = inherited.bytes.size() == nifti2.size ? nifti2 : nifti1;
  Header header(inherited.bytes, layout);
  const Shape shape = voxels.shape();
  const std::array<std::int64_t, 8> dim{3, shape.width, shape.height, shape.depth, 1, 1, 1, 1};
  for (std::size_t i = 0; i < dim.size(); ++i) {
    if (layout.dim_bytes == 2 && dim[i] > 32767) {
      refuse("NIfTI-1 holds at most 32767 voxels along a side; use a name that ends in .npy");
    }
    header.set_integer(layout.dim + i * layout.dim_bytes, layout.dim_bytes, dim[i]);
  }
  header.set_integer(layout.datatype, 2, code_of(voxels.type));
  header.set_integer(layout.bitpix, 2, static_cast<std::int64_t>(8 * size_of(voxels.type)));
  header.set_real(layout.scl_slope, 1);
  header.set_real(layout.scl_slope + layout.real_bytes, 0);
  // Clear the display range, which was that of the reference.
  header.set_real(layout.cal_max, 0);
  header.set_real(layout.cal_max + layout.real_bytes, 0);
  const std::size_t offset = layout.size + extension_bytes;
  if (layout.offset_is_real) {
    header.set_real(layout.vox_offset, static_cast<double>(offset));
  } else {
    header.set_integer(layout.vox_offset, 8, static_cast<std::int64_t>(offset));
  }
  std::vector<std::byte> file = header.bytes();
  file.resize(offset);
  file.insert(file.end(), voxels.bytes.begin(), voxels.bytes.end());
  return compressed ? compress_gzip(file) : file;
}

}  // namespace warpalign::program
