// The headers of NIfTI-1 and NIfTI-2 (nifti.nimh.nih.gov; nifti1.h and nifti2.h), and where they
// place the voxels.
#pragma once

#include "io/byte_stream.hpp"

#include <warpalign/geometry.hpp>
#include <warpalign/homogeneous_matrix.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpalign::program {

/// The offsets and widths of a header's members.
struct NiftiLayout {
  std::size_t size;
  std::size_t magic;
  const char* in_one_piece;
  const char* pair;
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
  std::size_t intent_p1, intent_code, intent_name;
};

inline constexpr NiftiLayout nifti1{348, 344, "n+1", "ni1", 40,  2,   70, 72,  76, 4,  108, true,
                                    112, 124, 123,   1,     252, 254, 2,  280, 56, 68, 328};
inline constexpr NiftiLayout nifti2{540, 4,   "n+2", "ni2", 16,  8,   12, 14,  104, 8,   168, false,
                                    176, 192, 500,   4,     344, 348, 4,  400, 80,  504, 508};

/// The four bytes after the header that tell whether extensions follow.
inline constexpr std::size_t nifti_extension_bytes = 4;
/// The characters of intent_name.
inline constexpr std::size_t nifti_name_bytes = 16;

/// A header in the machine's byte order, which a result inherits.
class NiftiHeader {
 public:
  /// A NIfTI-1 header of zeros.
  NiftiHeader() : NiftiHeader(std::vector<std::byte>(nifti1.size)) {}
  /// `bytes`: as many as one of the layouts has.
  explicit NiftiHeader(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}

  [[nodiscard]] const NiftiLayout& layout() const {
    return bytes_.size() == nifti2.size ? nifti2 : nifti1;
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

  [[nodiscard]] std::int64_t integer(std::size_t at, std::size_t bytes) const {
    if (bytes == 1) return get<std::uint8_t>(at);
    if (bytes == 2) return get<std::int16_t>(at);
    if (bytes == 4) return get<std::int32_t>(at);
    return get<std::int64_t>(at);
  }
  [[nodiscard]] double real(std::size_t at) const {
    return layout().real_bytes == 4 ? static_cast<double>(get<float>(at)) : get<double>(at);
  }
  [[nodiscard]] std::int64_t dim(std::size_t i) const {
    return integer(layout().dim + i * layout().dim_bytes, layout().dim_bytes);
  }
  [[nodiscard]] double pixdim(std::size_t i) const {
    return real(layout().pixdim + i * layout().real_bytes);
  }
  /// b, c and d of the qform's quaternion, then the offset.
  [[nodiscard]] double qform(std::size_t i) const {
    return real(layout().srow + i * layout().real_bytes - 6 * layout().real_bytes);
  }
  [[nodiscard]] double srow(std::size_t row, std::size_t column) const {
    return real(layout().srow + (4 * row + column) * layout().real_bytes);
  }

  void set_integer(std::size_t at, std::size_t bytes, std::int64_t value) {
    if (bytes == 1) put(at, static_cast<std::uint8_t>(value));
    if (bytes == 2) put(at, static_cast<std::int16_t>(value));
    if (bytes == 4) put(at, static_cast<std::int32_t>(value));
    if (bytes == 8) put(at, value);
  }
  /// What the values mean, by one of NIfTI's codes, and the words and first number that go with it.
  [[nodiscard]] std::int64_t intent_code() const {
    return integer(layout().intent_code, layout().code_bytes);
  }
  [[nodiscard]] double intent_parameter() const { return real(layout().intent_p1); }
  [[nodiscard]] std::string intent_name() const {
    const std::string_view all(reinterpret_cast<const char*>(bytes_.data()) + layout().intent_name,
                               nifti_name_bytes);
    return std::string(all.substr(0, all.find('\0')));
  }
  void set_intent(std::int64_t code, std::string_view name, double parameter) {
    set_integer(layout().intent_code, layout().code_bytes, code);
    set_real(layout().intent_p1, parameter);
    std::memset(bytes_.data() + layout().intent_name, 0, nifti_name_bytes);
    std::memcpy(bytes_.data() + layout().intent_name, name.data(),
                std::min(name.size(), nifti_name_bytes - 1));
  }
  /// The sform, from indices to RAS millimetres, with the code of aligned images; no qform.
  void set_sform(const HomogeneousMatrix& index_to_world) {
    for (std::size_t i = 0; i < 12; ++i) {
      set_real(layout().srow + i * layout().real_bytes, index_to_world.m[i]);
    }
    set_integer(layout().sform_code, layout().code_bytes, 2);
    set_integer(layout().qform_code, layout().code_bytes, 0);
  }
  /// `magic`: three characters and a zero.
  void set_magic(const char* magic) { std::memcpy(bytes_.data() + layout().magic, magic, 4); }
  void set_real(std::size_t at, double value) {
    if (layout().real_bytes == 4) {
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
};

/// A header as a file holds it.
struct NiftiFileHeader {
  NiftiHeader header;
  bool swapped = false;  ///< whether the file has the other byte order
  bool is_pair = false;  ///< whether the voxels are in another file (.hdr and .img)
};

/// Reads the header from the start of a file. Throws FileError if it is not NIfTI.
[[nodiscard]] NiftiFileHeader read_nifti_header(ByteStream& file);

/// The number of bytes before the voxels. Throws FileError if it is impossible.
[[nodiscard]] std::uint64_t nifti_voxel_offset(const NiftiFileHeader& file);

/// Where the voxels lie.
struct NiftiGeometry {
  /// The distances along x, y and z in millimetres as given in the header, which may be invalid:
  /// from the sform if there is one, else from pixdim.
  std::array<double, 3> spacing{};
  /// Maps indices (x, y, z, 1) to RAS millimetres: the sform if its code is above 0, else the qform
  /// if its code is, else the spacing alone, as nibabel does without the qform's offset.
  HomogeneousMatrix index_to_world;
  /// Whether the header has a valid sform or qform.
  bool has_position = false;
  /// Whether the voxels' axes are left-handed in the space of the scanner or the atlas. Empty if
  /// the header has no position.
  std::optional<bool> left_handed;
  /// A sentence about a sform and a qform that contradict each other; else empty.
  std::string contradiction;
};

[[nodiscard]] NiftiGeometry nifti_geometry(const NiftiHeader& header);

/// A header for voxels with these distances along x, y and z in millimetres, without a position.
[[nodiscard]] NiftiHeader plain_nifti_header(const std::array<double, 3>& spacing);

}  // namespace warpalign::program
