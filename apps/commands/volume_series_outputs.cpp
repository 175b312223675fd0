// What `warpalign stack` writes for a series of volumes.
#include "commands/volume_series_outputs.hpp"

#include "io/array_file.hpp"
#include "io/frames/npy_sink.hpp"
#include "io/frames/recording_text.hpp"
#include "io/frames/tiff_sink.hpp"
#include "io/tiff_name.hpp"
#include "io/transform_file.hpp"
#include "io/usage_error.hpp"
#include "io/volume_file.hpp"

#include "transform_files/matrices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <span>
#include <utility>

namespace warpalign::program {
namespace {

constexpr double um_in_mm = 1000;

/// The voxels brighter than a tenth of the way from the 2nd to the 98th percentile, as FSL's tools
/// separate a head from air.
std::vector<std::size_t> voxels_of_head(const Array& reference) {
  const Array values = to_float(reference);
  const auto samples = values.samples<float>();
  std::vector<float> sorted;
  for (const float value : samples) {
    if (std::isfinite(value)) sorted.push_back(value);
  }
  if (sorted.empty()) return {};
  const auto percentile = [&](double share) {
    const auto nth = sorted.begin() +
                     static_cast<std::ptrdiff_t>(share * static_cast<double>(sorted.size() - 1));
    std::nth_element(sorted.begin(), nth, sorted.end());
    return *nth;
  };
  const float low = percentile(0.02);
  const float threshold = low + 0.1F * (percentile(0.98) - low);
  std::vector<std::size_t> head;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i] > threshold) head.push_back(i);
  }
  return head;
}

HomogeneousMatrix index_to_world_of(const SeriesGeometry& geometry) {
  if (geometry.index_to_world) return *geometry.index_to_world;
  const auto& [x, y, z] = *geometry.spacing;
  return transform_files::diagonal(x, y, z);
}

/// ImageJ's description of one volume in f32.
RecordingFormat format_of_mean(const SeriesGeometry& geometry) {
  RecordingFormat format;
  format.slices = static_cast<std::size_t>(geometry.extents[0]);
  format.metadata = RecordingFormat::Metadata::imagej;
  format.description = "ImageJ=1.54f\n";
  if (geometry.unit != "um" || !geometry.spacing) return format;
  const auto& [x, y, z] = *geometry.spacing;
  format.description += fmt::format("unit=um\nspacing={}\n", z);
  constexpr std::uint32_t parts = 1000000;
  const auto fraction = [&](double size) {
    return std::array{parts, static_cast<std::uint32_t>(std::lround(size * parts))};
  };
  constexpr double most = 1000;  // larger voxels do not fit into the fraction
  if (x < most && y < most) format.resolution = {fraction(x), fraction(y)};
  return format;
}

}  // namespace

SeriesOutputs::SeriesOutputs(const StackOptions& options, const SeriesInput& input,
                             const SeriesGeometry& geometry, std::size_t volumes,
                             VolumeSeriesJournal* journal)
    : journal_(journal),
      geometry_(geometry),
      index_to_world_(index_to_world_of(geometry)),
      output_name_(options.output),
      mean_name_(options.volumes.mean),
      summary_(geometry_.unit) {
  if (geometry_.unit == "um") {
    for (double& distance : *geometry_.spacing) distance /= um_in_mm;  // as NIfTI has it
  }
  if (input.recording() != nullptr) format_ = *input.recording();
  const bool is_nifti = output_name_ && is_nifti_name(*output_name_);
  if (output_name_ && format_ && !is_nifti) {
    const LoadedImage plane{geometry_.extents[2], geometry_.extents[1], 1, input.stored_type(), {}};
    open_recording(*format_, plane, volumes);
  } else if (output_name_) {
    if (format_ && format_->channels > 1) {
      throw UsageError(
          fmt::format("--output {}: NIfTI has no channels; write .tif or .npy, or only one channel "
                      "by --only-channel",
                      *output_name_));
    }
    output_ = std::make_unique<VolumeSeriesFile>(
        *output_name_, geometry_, journal_ != nullptr ? Unfinished::kept : Unfinished::removed,
        journal_ != nullptr ? journal_->end() : SeriesFileEnd{});
  }
  if (mean_name_ && is_tiff_name(*mean_name_)) {
    const LoadedImage plane{geometry_.extents[2], geometry_.extents[1], 1, PixelType::f32, {}};
    mean_frame_ =
        std::make_unique<TiffSink>(*mean_name_, plane, 1, std::nullopt, format_of_mean(geometry));
  } else if (mean_name_) {
    mean_ = std::make_unique<AtomicFile>(*mean_name_);
  }
  if (options.volumes.transforms) {
    transforms_ = std::make_unique<OutputFolder>(*options.volumes.transforms);
    digits_ = std::to_string(volumes - 1).size();
    if (geometry_.index_to_world) {
      located_.reference = located_.moving = load_grid(options.files.front());
    }
  }
  open(table_, options.csv);
  open(json_, options.json);
  open(plot_, options.plot);
  if (options.csv && std::filesystem::path(*options.csv).extension() == ".tsv") separator_ = '\t';
}

void SeriesOutputs::open_recording(const RecordingFormat& format, const LoadedImage& plane,
                                   std::size_t volumes) {
  std::optional<std::size_t> kept;
  if (journal_ != nullptr) kept = journal_->rows().size();
  if (is_npy_name(*output_name_)) {
    frames_ = std::make_unique<NpySink>(*output_name_, plane, kept, format, volumes);
    return;
  }
  if (with_description(format, plane).metadata == RecordingFormat::Metadata::none) {
    throw UsageError(fmt::format(
        "--output {}: TIFF has no description of the axes for {} pixels of several planes; use a "
        "name that ends in .npy",
        *output_name_, name_of(plane.type)));
  }
  frames_ = std::make_unique<TiffSink>(*output_name_, plane, volumes, kept, format);
}

void SeriesOutputs::open(TextFile& file, const std::optional<std::string>& name) {
  if (!name) return;
  file.name = *name;
  file.file = std::make_unique<AtomicFile>(*name);
}

void SeriesOutputs::write(TextFile& file, const std::string& text) {
  if (file.file) file.file->write(std::as_bytes(std::span(text)));
}

void SeriesOutputs::start(const SeriesSetting& setting, const Array& reference) {
  radius_ = setting.radius;
  head_ = voxels_of_head(reference);
  if (mean_name_) sums_ = VolumeMean(static_cast<std::size_t>(reference.shape().pixels()));
  write(table_, series_table_header(separator_));
  write(json_, series_json_start(setting));
  if (journal_ == nullptr || journal_->rows().empty() || !output_) return;
  auto row = journal_->rows().begin();
  output_->replay([&](const Array& voxels) {
    SeriesRow again = *row++;
    complete(again, voxels);
    write_row(again);
  });
}

/// Adds what follows from the parameters and the aligned voxels.
void SeriesOutputs::complete(SeriesRow& row, const Array& voxels) {
  if (row.status != "ok") {
    has_before_ = false;
    parameters_before_.reset();
    return;
  }
  row.parameters = rigid_parameters(row.found, index_to_world_, voxels.shape());
  if (parameters_before_) {
    row.displacement = framewise_displacement(*parameters_before_, *row.parameters, radius_);
  }
  parameters_before_ = row.parameters;
  const Array values = to_float(voxels);
  const auto samples = values.samples<float>();
  if (has_before_ && !head_.empty()) {
    double squares = 0;
    std::size_t count = 0;
    for (const std::size_t i : head_) {
      const double change = static_cast<double>(samples[i]) - static_cast<double>(before_[i]);
      if (!std::isfinite(change)) continue;  // missing in one of the volumes
      squares += change * change;
      ++count;
    }
    if (count > 0) {
      row.dvars =
          std::abs(geometry_.scaling.slope) * std::sqrt(squares / static_cast<double>(count));
    }
  }
  before_.assign(samples.begin(), samples.end());
  has_before_ = true;
  if (mean_name_) sums_.add(voxels);
}

bool SeriesOutputs::lack(std::size_t index) const {
  return frames_ ? frames_->lacks(index, "") : true;
}

/// Volumes that cannot be read are 0, so that the others keep their numbers.
void SeriesOutputs::append(const SeriesVolume& volume) {
  const bool has_voxels = !volume.voxels.bytes.empty();
  if (output_) {
    output_->append(has_voxels ? volume.voxels : make_array(geometry_.extents, geometry_.type));
  }
  if (!frames_) return;
  std::vector<LoadedImage> planes;
  if (has_voxels) {
    planes = volume.channels.empty() ? planes_of(std::span(&volume.voxels, 1))
                                     : planes_of(volume.channels);
  }
  frames_->write(volume.index, "", planes);
}

SeriesFileEnd SeriesOutputs::end_after(std::size_t index) const {
  if (output_) return output_->end();
  return {static_cast<std::int64_t>(index) + 1, 0, {}};
}

void SeriesOutputs::sync() {
  if (output_) output_->sync();
  if (frames_) frames_->sync();
}

void SeriesOutputs::add(SeriesVolume volume, SeriesRow row) {
  complete(row, volume.voxels);
  if (transforms_ && row.status == "ok") write_transform(row);
  if (lack(row.index)) {
    append(volume);
    if (journal_ != nullptr) journal_->add(row, end_after(row.index), [this] { sync(); });
  }
  write_row(row);
}

void SeriesOutputs::write_transform(const SeriesRow& row) {
  const auto& deformation = row.found.deformation;
  const Transform transform =
      deformation ? deformation->transform
                  : Transform::of_matrix(TransformKind::affine, 3, row.found.matrix);
  const std::string text = transform_files::write_npz({{transform}, located_, {}});
  const auto bytes = std::as_bytes(std::span(text));
  transforms_->write_now(fmt::format("{:0{}}.npz", row.index, digits_),
                         {bytes.begin(), bytes.end()});
}

void SeriesOutputs::write_row(const SeriesRow& row) {
  write(table_, series_table_line(row, separator_));
  write(json_, series_json_line(row, summary_.volumes() == 0, geometry_.unit));
  summary_.add(row);
}

void SeriesOutputs::write_mean() {
  const NiftiScaling& scaling = geometry_.scaling;
  const Array mean = sums_.mean(geometry_.extents, scaling.slope, scaling.intercept);
  if (mean_frame_) {
    mean_frame_->write(0, "", planes_of(std::span(&mean, 1)));
    mean_frame_->commit();
    return;
  }
  VolumeFile like{*mean_name_, {}, geometry_.spacing, {}, {}, geometry_.header};
  mean_->write(encode_volume(*mean_name_, mean, like, *geometry_.spacing));
  mean_->commit();
}

std::vector<std::string> SeriesOutputs::finish(const std::string& ended_early) {
  std::vector<std::string> files;
  if (output_) output_->commit();
  if (frames_) frames_->commit();
  if (output_name_) files.push_back(*output_name_);
  if (mean_name_) {
    write_mean();
    files.push_back(*mean_name_);
  }
  write(json_, summary_.json_end(ended_early));
  if (plot_.file) write(plot_, summary_.draw());
  for (TextFile* file : {&table_, &json_, &plot_}) {
    if (!file->file) continue;
    file->file->commit();
    files.push_back(file->name);
  }
  if (transforms_) {
    transforms_->commit();
    files.push_back(transforms_->path().string());
  }
  if (journal_ != nullptr) journal_->remove();
  return files;
}

}  // namespace warpalign::program
