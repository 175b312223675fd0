// Reads the headers of NIfTI-1 and NIfTI-2. Offsets of members are from nifti1.h and nifti2.h.
#include "io/nifti_header.hpp"

#include "io/byte_order.hpp"
#include "io/image_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace warpalign::program {
namespace {

[[noreturn]] void refuse_header(const std::string& why) { throw FileError(why); }

/// Reverses the bytes of the numbers that this file reads or passes on.
void swap_members(std::span<std::byte> bytes, const NiftiLayout& layout) {
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

std::int32_t first_number(std::span<const std::byte> bytes) {
  std::int32_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

bool has_sform(const NiftiHeader& header) {
  return header.integer(header.layout().sform_code, header.layout().code_bytes) > 0;
}

bool has_qform(const NiftiHeader& header) {
  return header.integer(header.layout().qform_code, header.layout().code_bytes) > 0;
}

/// The unit of lengths, in millimetres.
double unit_of(const NiftiHeader& header) {
  const std::int64_t unit =
      header.integer(header.layout().xyzt_units, header.layout().units_bytes) & 7;
  // Metres and micrometres. Files without a unit are almost always in millimetres.
  return unit == 1 ? 1000 : unit == 3 ? 0.001 : 1;
}

/// The rotation of the qform, row by row, with the third column mirrored if the header says so.
std::array<double, 9> qform_rotation(const NiftiHeader& header) {
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

/// The sform, in millimetres.
HomogeneousMatrix by_sform(const NiftiHeader& header) {
  std::array<double, 12> rows{};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      rows[4 * row + column] = header.srow(row, column) * unit_of(header);
    }
  }
  return HomogeneousMatrix::affine3(rows);
}

/// The qform in millimetres or, without one, the spacing alone.
HomogeneousMatrix by_qform(const NiftiHeader& header) {
  const bool positioned = has_qform(header);
  const std::array<double, 9> rotation =
      positioned ? qform_rotation(header) : std::array<double, 9>{1, 0, 0, 0, 1, 0, 0, 0, 1};
  std::array<double, 12> rows{};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column) {
      rows[4 * row + column] =
          rotation[3 * row + column] * header.pixdim(column + 1) * unit_of(header);
    }
    if (positioned) rows[4 * row + 3] = header.qform(3 + row) * unit_of(header);
  }
  return HomogeneousMatrix::affine3(rows);
}

double determinant_of(const HomogeneousMatrix& matrix) {
  const auto& m = matrix.m;
  return m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) +
         m[2] * (m[4] * m[9] - m[5] * m[8]);
}

bool is_invertible(const HomogeneousMatrix& matrix) {
  const bool finite = std::all_of(matrix.m.begin(), matrix.m.end(),
                                  [](double value) { return std::isfinite(value); });
  double lengths = 1;
  for (std::size_t j = 0; j < 3; ++j) {
    lengths *= std::hypot(matrix.m[j], matrix.m[4 + j], matrix.m[8 + j]);
  }
  // Below this, the axes lie in a plane.
  return finite && lengths > 0 && std::abs(determinant_of(matrix)) > 1e-6 * lengths;
}

/// The largest distance in millimetres between the positions of a corner by both matrices.
double largest_distance(const NiftiHeader& header, const HomogeneousMatrix& a,
                        const HomogeneousMatrix& b) {
  double largest = 0;
  for (unsigned corner = 0; corner < 8; ++corner) {
    std::array<double, 3> apart{};
    for (std::size_t row = 0; row < 3; ++row) {
      apart[row] = a.m[4 * row + 3] - b.m[4 * row + 3];
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double at =
            (corner >> axis & 1U) != 0 ? static_cast<double>(header.dim(axis + 1)) - 1 : 0.0;
        apart[row] += (a.m[4 * row + axis] - b.m[4 * row + axis]) * at;
      }
    }
    largest = std::max(largest, std::hypot(apart[0], apart[1], apart[2]));
  }
  return largest;
}

std::string contradiction_of(const NiftiHeader& header, const NiftiGeometry& geometry) {
  if (!has_sform(header) || !has_qform(header)) return {};
  const double apart = largest_distance(header, by_sform(header), by_qform(header));
  const auto [least, most] = std::minmax_element(geometry.spacing.begin(), geometry.spacing.end());
  // Both are stored in single precision, and a qform cannot hold shears of a sform.
  if (apart <= *least / 2) return {};
  return fmt::format(
      "its sform and its qform place the voxels up to {:.3g} mm apart; the sform counts", apart);
}

}  // namespace

NiftiFileHeader read_nifti_header(ByteStream& file) {
  std::vector<std::byte> bytes(nifti1.size);
  if (file.read(bytes) < bytes.size()) refuse_header("is too short to be NIfTI");
  std::int32_t size = first_number(bytes);
  auto other = bytes;
  reverse_words(std::span(other).first(4), 4);
  NiftiFileHeader found;
  found.swapped = size != static_cast<std::int32_t>(nifti1.size) &&
                  size != static_cast<std::int32_t>(nifti2.size);
  if (found.swapped) size = first_number(other);
  const NiftiLayout& layout = size == static_cast<std::int32_t>(nifti2.size) ? nifti2 : nifti1;
  if (size != static_cast<std::int32_t>(layout.size)) {
    refuse_header("is not NIfTI: its header has another size");
  }
  bytes.resize(layout.size);
  const auto more = std::span(bytes).subspan(nifti1.size);
  if (file.read(more) < more.size()) refuse_header("is too short to be NIfTI");
  const auto magic = [&](const char* wanted) {
    return std::memcmp(bytes.data() + layout.magic, wanted, 3) == 0;
  };
  found.is_pair = magic(layout.pair);
  if (!found.is_pair && !magic(layout.in_one_piece)) {
    refuse_header(
        "is not NIfTI: its header has no 'n+1' or 'n+2'; convert files of Analyze 7.5, which does "
        "not tell left from right");
  }
  if (found.swapped) swap_members(bytes, layout);
  found.header = NiftiHeader(std::move(bytes));
  return found;
}

std::uint64_t nifti_voxel_offset(const NiftiFileHeader& file) {
  const NiftiHeader& header = file.header;
  const NiftiLayout& layout = header.layout();
  const double offset = layout.offset_is_real
                            ? header.real(layout.vox_offset)
                            : static_cast<double>(header.integer(layout.vox_offset, 8));
  // Extensions are notes of a few kilobytes.
  constexpr double max_offset = 1 << 28;
  const double least = file.is_pair ? 0 : static_cast<double>(layout.size);
  if (!(offset >= least) || !(offset <= max_offset)) {
    refuse_header(fmt::format("is damaged: its voxels begin at byte {}", offset));
  }
  return static_cast<std::uint64_t>(offset);
}

NiftiGeometry nifti_geometry(const NiftiHeader& header) {
  NiftiGeometry geometry;
  geometry.index_to_world = has_sform(header) ? by_sform(header) : by_qform(header);
  const auto& m = geometry.index_to_world.m;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    geometry.spacing[axis] = has_sform(header) ? std::hypot(m[axis], m[4 + axis], m[8 + axis])
                                               : header.pixdim(axis + 1) * unit_of(header);
  }
  if (!has_sform(header) && !has_qform(header)) return geometry;
  geometry.has_position = is_invertible(geometry.index_to_world);
  geometry.left_handed =
      has_sform(header) ? determinant_of(geometry.index_to_world) < 0 : header.pixdim(0) < 0;
  if (geometry.has_position) geometry.contradiction = contradiction_of(header, geometry);
  return geometry;
}

NiftiHeader plain_nifti_header(const std::array<double, 3>& spacing) {
  NiftiHeader header;
  header.set_integer(0, 4, static_cast<std::int64_t>(nifti1.size));
  header.set_magic(nifti1.in_one_piece);
  header.set_real(nifti1.pixdim, 1);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    header.set_real(nifti1.pixdim + (axis + 1) * nifti1.real_bytes, spacing[axis]);
  }
  header.set_integer(nifti1.xyzt_units, nifti1.units_bytes, 2);  // millimetres
  return header;
}

}  // namespace warpalign::program
