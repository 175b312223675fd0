// Writes a series of volumes to one file, one after the other.
#include "io/volume_series_file.hpp"

#include "io/usage_error.hpp"
#include "io/volume_file.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace warpalign::program {
namespace {

// More than the header of an array of four axes needs, whatever their extents.
constexpr std::size_t npy_head_bytes = 192;

}  // namespace

VolumeSeriesFile::VolumeSeriesFile(const std::string& name, const SeriesGeometry& geometry)
    : name_(name), geometry_(geometry), file_(name) {
  check_volume_storable(name, geometry.extents, geometry.type);
  const bool compressed = is_nifti_name(name) && std::filesystem::path(name).extension() != ".nii";
  if (compressed) gzip_ = std::make_unique<GzipWriter>();
  file_.write(gzip_ ? GzipWriter::begin(head()) : head());
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
  file_.write(gzip_ ? gzip_->add(voxels.bytes) : voxels.bytes);
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
