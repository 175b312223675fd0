// Writes a series of volumes to one file, one after the other.
#include "io/volume_series_file.hpp"

#include "io/gzip.hpp"
#include "io/usage_error.hpp"
#include "io/volume_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

namespace warpalign::program {
namespace {

// More than the header of an array of four axes needs, whatever their extents.
constexpr std::size_t npy_head_bytes = 192;

}  // namespace

VolumeSeriesFile::VolumeSeriesFile(const std::string& name, const SeriesGeometry& geometry,
                                   Unfinished unfinished, const SeriesFileEnd& end)
    : name_(name), geometry_(geometry), file_(name, unfinished) {
  check_volume_storable(name, geometry.extents, geometry.type);
  const bool compressed = is_nifti_name(name) && std::filesystem::path(name).extension() != ".nii";
  if (compressed) gzip_ = std::make_unique<GzipWriter>();
  if (end.volumes == 0) {
    file_.truncate(0);
    write(gzip_ ? GzipWriter::begin(head()) : head());
    return;
  }
  if (file_.size() < end.bytes) {
    throw FileError(fmt::format(
        "{}: the unfinished file of the earlier run is shorter than its journal says; remove both "
        "to start again",
        name));
  }
  file_.truncate(end.bytes);
  volumes_ = end.volumes;
  bytes_ = end.bytes;
  if (gzip_) gzip_->resume(end.gzip);
}

void VolumeSeriesFile::write(const std::vector<std::byte>& bytes) {
  file_.write(bytes);
  bytes_ += bytes.size();
}

SeriesFileEnd VolumeSeriesFile::end() const {
  return {volumes_, bytes_, gzip_ ? gzip_->state() : GzipWriter::State{}};
}

void VolumeSeriesFile::replay(const std::function<void(const Array&)>& use) const {
  std::uint64_t at = 0;  // in the file
  std::vector<std::byte> piece;
  const auto next_piece = [&](std::size_t keep) -> std::span<const std::byte> {
    std::vector<std::byte> next(piece.end() - static_cast<std::ptrdiff_t>(keep), piece.end());
    const std::uint64_t count = std::min<std::uint64_t>(bytes_ - at, std::size_t{1} << 18);
    next.resize(keep + count);
    if (!file_.read_at(at, std::span(next).subspan(keep)))
      throw FileError(name_ + ": was shortened");
    at += count;
    piece = std::move(next);
    return piece;
  };
  std::optional<GzipReader> gzip;
  if (gzip_) gzip.emplace(next_piece);
  const auto read = [&](std::span<std::byte> bytes) {
    if (gzip) {
      if (gzip->read(bytes) < bytes.size()) throw FileError(name_ + ": was shortened");
      return;
    }
    if (!file_.read_at(at, bytes)) throw FileError(name_ + ": was shortened");
    at += bytes.size();
  };
  std::vector<std::byte> start(head().size());
  read(start);
  Array voxels = make_array(geometry_.extents, geometry_.type);
  for (std::int64_t i = 0; i < volumes_; ++i) {
    read(voxels.bytes);
    use(voxels);
  }
}

std::vector<std::byte> VolumeSeriesFile::head() const {
  if (is_npy_name(name_)) {
    std::vector<std::int64_t> extents{volumes_};
    extents.insert(extents.end(), geometry_.extents.begin(), geometry_.extents.end());
    return npy_header(extents, geometry_.type, npy_head_bytes);
  }
  const NiftiHeader header =
      geometry_.header ? *geometry_.header
                       : plain_nifti_header(geometry_.spacing.value_or(std::array{1.0, 1.0, 1.0}));
  return nifti_file_start(geometry_.extents, geometry_.type, header, volumes_, geometry_.as_stored);
}

void VolumeSeriesFile::append(const Array& voxels) {
  write(gzip_ ? gzip_->add(voxels.bytes) : voxels.bytes);
  ++volumes_;
}

void VolumeSeriesFile::commit() {
  const std::vector<std::byte> final_head = head();
  file_.write_at(gzip_ ? GzipWriter::head_offset : 0, final_head);
  if (gzip_) file_.write(gzip_->end(final_head));
  file_.commit();
}

void check_series_name(const std::string& option, const std::string& name) {
  if (is_nifti_name(name) || is_npy_name(name)) return;
  throw UsageError(fmt::format(
      "{} {}: volumes are written as .nii, .nii.gz or .npy; use a name that ends in one of these",
      option, name));
}

}  // namespace warpalign::program
