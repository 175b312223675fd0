// What `warpalign stack` writes for a series of volumes.
#include "commands/volume_series_outputs.hpp"

#include "io/array_file.hpp"
#include "io/volume_file.hpp"

#include "transform_files/matrices.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>
#include <utility>

namespace warpalign::program {
namespace {

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

}  // namespace

SeriesOutputs::SeriesOutputs(const StackOptions& options, const SeriesGeometry& geometry,
                             const Point3& spacing, VolumeSeriesJournal* journal)
    : journal_(journal),
      geometry_(geometry),
      index_to_world_(geometry.index_to_world.value_or(
          transform_files::diagonal(spacing.x, spacing.y, spacing.z))),
      output_name_(options.output),
      mean_name_(options.volumes.mean) {
  if (!geometry_.spacing) geometry_.spacing = {spacing.x, spacing.y, spacing.z};
  if (output_name_) {
    output_ = std::make_unique<VolumeSeriesFile>(
        *output_name_, geometry_, journal_ != nullptr ? Unfinished::kept : Unfinished::removed,
        journal_ != nullptr ? journal_->end() : SeriesFileEnd{});
  }
  if (mean_name_) mean_ = std::make_unique<AtomicFile>(*mean_name_);
  open(table_, options.csv);
  open(json_, options.json);
  open(plot_, options.plot);
  if (options.csv && std::filesystem::path(*options.csv).extension() == ".tsv") separator_ = '\t';
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
  radius_mm_ = setting.radius_mm;
  head_ = voxels_of_head(reference);
  if (mean_) sums_ = VolumeMean(static_cast<std::size_t>(reference.shape().pixels()));
  write(table_, series_table_header(separator_));
  write(json_, series_json_start(setting));
  if (journal_ == nullptr || journal_->rows().empty()) return;
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
    row.displacement_mm = framewise_displacement(*parameters_before_, *row.parameters, radius_mm_);
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
  if (mean_) sums_.add(voxels);
}

void SeriesOutputs::add(SeriesVolume volume, SeriesRow row) {
  complete(row, volume.voxels);
  if (output_) {
    if (volume.voxels.bytes.empty()) volume.voxels = make_array(geometry_.extents, geometry_.type);
    output_->append(volume.voxels);
  }
  if (journal_ != nullptr) journal_->add(row, *output_);
  write_row(row);
}

void SeriesOutputs::write_row(const SeriesRow& row) {
  write(table_, series_table_line(row, separator_));
  write(json_, series_json_line(row, summary_.volumes() == 0));
  summary_.add(row);
}

void SeriesOutputs::write_mean() {
  const NiftiScaling& scaling = geometry_.scaling;
  const Array mean = sums_.mean(geometry_.extents, scaling.slope, scaling.intercept);
  VolumeFile like{*mean_name_, {}, geometry_.spacing, {}, {}, geometry_.header};
  mean_->write(encode_volume(*mean_name_, mean, like, *geometry_.spacing));
  mean_->commit();
}

std::vector<std::string> SeriesOutputs::finish(const std::string& ended_early) {
  std::vector<std::string> files;
  if (output_) {
    output_->commit();
    files.push_back(*output_name_);
  }
  if (mean_) {
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
  if (journal_ != nullptr) journal_->remove();
  return files;
}

}  // namespace warpalign::program
