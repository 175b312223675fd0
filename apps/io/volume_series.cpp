// Reads the volumes of a series, one after the other.
#include "io/volume_series.hpp"

#include "io/byte_order.hpp"
#include "io/codecs/npy_layout.hpp"
#include "io/file_bytes.hpp"
#include "io/frames/input_file.hpp"
#include "io/frames/input_files.hpp"
#include "io/volume_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace warpalign::program {
namespace {

namespace fs = std::filesystem;

bool is_volume_name(const fs::path& path) {
  return is_nifti_name(path) || is_nifti_pair_name(path);
}

NpyLayout npy_layout_of(const InputFile& file) {
  std::vector<std::byte> head(std::size_t{1} << 16);  // NumPy's headers have some 100 bytes
  head.resize(file.read_at(0, head));
  return read_npy_layout(head);
}

bool is_npy_series(const std::string& name) {
  const NpyLayout layout = npy_layout_of(InputFile(name));
  // An array whose last axis is 3 may hold colours, which stacks of images have.
  return layout.extents.size() == 4 && layout.extents[3] != 3;
}

std::vector<std::string> nifti_files_in(const fs::path& folder) {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const bool second_of_pair = entry.path().filename().string().find(".img") != std::string::npos;
    if (is_volume_name(entry.path()) && !second_of_pair) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end(), in_natural_order);
  return files;
}

/// Whether a folder has files that are frames of a stack of images.
bool has_images(const std::string& folder) {
  try {
    return !input_files({folder}).empty();
  } catch (const FileError&) {
    return false;
  }
}

/// A file that holds several volumes.
class SeriesFile {
 public:
  SeriesFile() = default;
  SeriesFile(const SeriesFile&) = delete;
  SeriesFile& operator=(const SeriesFile&) = delete;
  virtual ~SeriesFile() = default;
  [[nodiscard]] virtual std::size_t volumes() const = 0;
  /// Throws FileError if the file ends before the end of the volume.
  [[nodiscard]] virtual Array next() = 0;
  virtual void skip(std::size_t volumes) = 0;
  /// Whether the end of the file is missing, although all volumes are there.
  [[nodiscard]] virtual bool cut_short() = 0;
};

class NiftiSeriesFile final : public SeriesFile {
 public:
  explicit NiftiSeriesFile(const std::string& name) : reader_(fs::path(name)) {}
  [[nodiscard]] const NiftiReader& reader() const { return reader_; }
  [[nodiscard]] std::size_t volumes() const override {
    return static_cast<std::size_t>(reader_.volumes());
  }
  [[nodiscard]] Array next() override { return reader_.next(); }
  void skip(std::size_t volumes) override { reader_.skip(static_cast<std::int64_t>(volumes)); }
  [[nodiscard]] bool cut_short() override { return reader_.cut_short(); }

 private:
  NiftiReader reader_;
};

class NpySeriesFile final : public SeriesFile {
 public:
  explicit NpySeriesFile(const std::string& name) : file_(name), layout_(npy_layout_of(file_)) {
    if (layout_.fortran_order) {
      throw FileError("is in Fortran order, which mixes its volumes; save it in C order");
    }
    if (layout_.type == PixelType::c32) throw FileError("holds complex numbers");
    if (layout_.extents[0] < 1) throw FileError("contains no volumes");
  }
  [[nodiscard]] const NpyLayout& layout() const { return layout_; }
  [[nodiscard]] std::size_t volumes() const override {
    return static_cast<std::size_t>(layout_.extents[0]);
  }
  [[nodiscard]] Array next() override {
    Array voxels =
        make_array({layout_.extents[1], layout_.extents[2], layout_.extents[3]}, layout_.type);
    const std::uint64_t offset = layout_.start + next_ * voxels.bytes.size();
    const std::size_t read = file_.read_at(offset, voxels.bytes);
    if (read < voxels.bytes.size()) {
      throw FileError(fmt::format("is truncated: its voxels take {} bytes, and there are {}",
                                  voxels.bytes.size(), read));
    }
    if (layout_.big_endian) reverse_words(voxels.bytes, layout_.word);
    ++next_;
    return voxels;
  }
  void skip(std::size_t volumes) override { next_ += volumes; }
  [[nodiscard]] bool cut_short() override { return false; }

 private:
  InputFile file_;
  NpyLayout layout_;
  std::size_t next_ = 0;
};

FileError with_name(const std::string& name, const FileError& error) {
  return FileError(fmt::format("{}: {}", name, error.what()));
}

SeriesGeometry geometry_of(const NiftiHeader& header) {
  NiftiGeometry found = nifti_geometry(header);
  SeriesGeometry geometry;
  geometry.spacing = found.spacing;
  if (found.has_position) geometry.index_to_world = found.index_to_world;
  geometry.note = std::move(found.contradiction);
  geometry.header = header;
  return geometry;
}

}  // namespace

bool are_volumes(const std::vector<std::string>& files) {
  if (files.empty()) return false;
  try {
    const std::string& first = files.front();
    if (fs::is_directory(first)) return !nifti_files_in(first).empty() && !has_images(first);
    return is_volume_name(first) || (is_npy_name(first) && is_npy(first) && is_npy_series(first));
  } catch (const std::exception&) {
    return false;  // the command for images reports the error
  }
}

std::vector<std::string> volume_files(const std::vector<std::string>& names) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    std::error_code failed;
    if (fs::is_directory(name, failed)) {
      const std::vector<std::string> found = nifti_files_in(name);
      if (found.empty()) throw FileError(fmt::format("{}: has no NIfTI files", name));
      files.insert(files.end(), found.begin(), found.end());
    } else {
      const std::vector<std::string> found = input_files({name});
      files.insert(files.end(), found.begin(), found.end());
    }
  }
  return files;
}

struct VolumeSeries::State {
  explicit State(std::vector<std::string> names) : files(std::move(names)) {
    try {
      if (is_npy_name(files.front())) {
        open_npy();
      } else {
        open_nifti();
      }
    } catch (const FileError& error) {
      throw with_name(files.front(), error);
    }
  }

  void open_npy() {
    auto file = std::make_unique<NpySeriesFile>(files.front());
    const auto& extents = file->layout().extents;
    geometry.extents = {extents[1], extents[2], extents[3]};
    geometry.type = file->layout().type;
    take_series(std::move(file));
  }

  void open_nifti() {
    auto file = std::make_unique<NiftiSeriesFile>(files.front());
    geometry = geometry_of(file->reader().header());
    geometry.extents = file->reader().extents();
    if (file->volumes() > 1 || files.size() == 1) {
      geometry.scaling = nifti_scaling(file->reader().header());
      geometry.as_stored = true;
      take_series(std::move(file));
      first = one->next();
      geometry.type = first->type;
      return;
    }
    // Each file has its own scaling, so values are scaled when they are read.
    count = files.size();
    first = load_nifti(files.front()).voxels;
    geometry.type = first->type;
  }

  void take_series(std::unique_ptr<SeriesFile> file) {
    if (files.size() > 1) {
      throw FileError("holds several volumes; name this file alone, or files of one volume each");
    }
    count = file->volumes();
    one = std::move(file);
  }

  std::optional<SeriesVolume> next_of_one() {
    SeriesVolume volume{index, fmt::format("{}[{}]", files.front(), index), {}, {}, {}};
    try {
      volume.voxels = first ? *std::exchange(first, std::nullopt) : one->next();
      if (index + 1 == count && one->cut_short()) {
        ended_early = fmt::format("{}: is truncated: its checksum is missing", files.front());
      }
    } catch (const FileError& error) {
      // Nothing after this place can be read.
      ended_early = fmt::format("{}: volume {} {}", files.front(), index, error.what());
      index = count;
      return std::nullopt;
    }
    return volume;
  }

  SeriesVolume next_of_many() {
    SeriesVolume volume{index, files[index], {}, {}, {}};
    try {
      volume.voxels =
          first ? *std::exchange(first, std::nullopt) : load_volume(files[index]).voxels;
    } catch (const FileError& error) {
      volume.trouble = error.what();
    }
    return volume;
  }

  std::optional<SeriesVolume> next() {
    if (index >= count) return std::nullopt;
    std::optional<SeriesVolume> volume = one ? next_of_one() : next_of_many();
    if (!volume) return volume;
    ++index;
    const Array& voxels = volume->voxels;
    if (!volume->trouble.empty()) return volume;
    if (voxels.extents != geometry.extents) {
      const Array expected{geometry.extents, geometry.type, {}};
      volume->trouble = fmt::format("{}: is {}, but the first volume is {}", volume->name,
                                    to_string(voxels.shape()), to_string(expected.shape()));
    } else if (voxels.type != geometry.type) {
      volume->trouble =
          fmt::format("{}: has another type of voxels than the first volume", volume->name);
    }
    if (!volume->trouble.empty()) volume->voxels = {};
    return volume;
  }

  std::vector<std::string> files;
  SeriesGeometry geometry;
  std::size_t count = 0;
  std::size_t index = 0;
  std::unique_ptr<SeriesFile> one;  // else each file holds one volume
  std::optional<Array> first;       // read ahead, for its type
  std::string ended_early;
};

VolumeSeries::VolumeSeries(std::vector<std::string> files)
    : state_(std::make_unique<State>(std::move(files))) {}
VolumeSeries::VolumeSeries(VolumeSeries&&) noexcept = default;
VolumeSeries::~VolumeSeries() = default;

const SeriesGeometry& VolumeSeries::geometry() const { return state_->geometry; }
std::size_t VolumeSeries::volumes() const { return state_->count; }
std::optional<SeriesVolume> VolumeSeries::next() { return state_->next(); }
const std::string& VolumeSeries::ended_early() const { return state_->ended_early; }

void VolumeSeries::skip(std::size_t volumes) {
  State& s = *state_;
  if (volumes == 0 || s.index >= s.count) return;
  const std::size_t skipped = std::min(volumes, s.count - s.index);
  const bool had_first = s.first.has_value();
  s.first.reset();
  s.index += skipped;
  if (!s.one) return;
  try {
    s.one->skip(skipped - (had_first ? 1 : 0));
  } catch (const FileError& error) {
    s.ended_early = fmt::format("{}: {}", s.files.front(), error.what());
    s.index = s.count;
  }
}

}  // namespace warpalign::program
