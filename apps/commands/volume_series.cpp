// `warpalign stack` of a series of volumes: registers each volume to one, and removes its motion.
#include "commands/volume_series.hpp"

#include "commands/ordered_worker.hpp"
#include "commands/volume_headers.hpp"
#include "commands/volume_mean.hpp"
#include "commands/volume_series_journal.hpp"
#include "commands/volume_series_outputs.hpp"
#include "io/array_file.hpp"
#include "io/messages.hpp"
#include "io/progress.hpp"
#include "io/usage_error.hpp"
#include "io/volume_file.hpp"
#include "io/volume_series.hpp"
#include "options/file_names.hpp"
#include "options/number_list.hpp"
#include "reports/option_names.hpp"

#include "transform_files/matrices.hpp"

#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>
#include <warpalign/volume_series.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <deque>
#include <future>
#include <optional>
#include <utility>

namespace warpalign::program {
namespace {

// Volumes that are read ahead, and that wait to be written.
constexpr std::size_t read_ahead = 2;
constexpr std::size_t max_waiting = 4;

/// What --to names.
struct SeriesReference {
  enum class Kind { first, mean, volume, file } kind = Kind::first;
  std::size_t volume = 0;
  std::string file;
};

SeriesReference series_reference_of(const std::string& text) {
  if (text == "first") return {};
  if (text == "mean") return {SeriesReference::Kind::mean, 0, {}};
  if (text == "previous" || text == "auto") {
    throw UsageError(fmt::format(
        "--to {}: volumes are registered to first, mean, a volume's number or a file", text));
  }
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) {
    return {SeriesReference::Kind::volume, number, {}};
  }
  return {SeriesReference::Kind::file, 0, text};
}

Motion series_motion_of(const std::optional<std::string>& name) {
  if (!name || *name == "rigid") return Motion::rigid;
  if (*name == "translation") return Motion::translation;
  if (*name == "similarity") return Motion::similarity;
  if (*name == "affine") return Motion::affine;
  throw UsageError(fmt::format(
      "invalid value '{}' for --motion (volumes have translation, rigid, similarity, affine)",
      *name));
}

void refuse_options_of_images(const StackOptions& options) {
  const RegistrationChoices& choices = options.choices;
  const std::pair<bool, const char*> given[] = {{options.channel.has_value(), "--channel"},
                                                {options.slice.has_value(), "--z"},
                                                {options.folder.has_value(), "--output-folder"},
                                                {options.video.has_value(), "--output-video"},
                                                {options.page.has_value(), "--report"},
                                                {options.mask.has_value(), "--mask"},
                                                {options.nodata.has_value(), "--nodata"},
                                                {options.shard.has_value(), "--shard"},
                                                {choices.fast, "--fast"},
                                                {choices.no_refine, "--no-refine"},
                                                {choices.scale_range.has_value(), "--scale-range"},
                                                {choices.angle_range.has_value(), "--angle-range"},
                                                {choices.max_shift.has_value(), "--max-shift"}};
  for (const auto& [is_given, option] : given) {
    if (!is_given) continue;
    throw UsageError(fmt::format("{}: is for stacks of images, and these are volumes", option));
  }
  for (const RegistrationOptionInfo* info : given_by_name(choices)) {
    throw UsageError(
        fmt::format("{}: is for stacks of images, and these are volumes", flag_of(*info)));
  }
}

void check_series_names(const StackOptions& options) {
  if (options.output) check_series_name("--output", *options.output);
  if (options.volumes.mean) check_series_name("--mean", *options.volumes.mean);
  if (options.plot && !options.plot->ends_with(".svg")) {
    throw UsageError(
        fmt::format("--plot {}: is written as SVG; use a name that ends in .svg", *options.plot));
  }
  std::vector<std::string> inputs = options.files;
  const SeriesReference reference = series_reference_of(options.to);
  if (reference.kind == SeriesReference::Kind::file) inputs.push_back(reference.file);
  check_outputs({{"--output", options.output},
                 {"--mean", options.volumes.mean},
                 {"--csv", options.csv},
                 {"--json", options.json},
                 {"--plot", options.plot}},
                inputs);
}

double radius_of(const VolumeSeriesChoices& choices) {
  const double radius = choices.radius.value_or(50);
  if (radius > 0 && std::isfinite(radius)) return radius;
  throw UsageError(fmt::format("--radius {}: must be above 0 millimetres", radius));
}

Point3 series_spacing_of(const VolumeSeriesChoices& choices, const SeriesGeometry& geometry,
                         const std::string& name) {
  std::array<double, 3> spacing = geometry.spacing.value_or(std::array{1.0, 1.0, 1.0});
  if (choices.spacing) {
    std::vector<double> numbers = parse_numbers("--spacing", *choices.spacing);
    if (numbers.size() == 1) numbers.resize(3, numbers.front());
    if (numbers.size() != 3) {
      throw UsageError(
          fmt::format("--spacing {}: must be a number, or three for z, y and x", *choices.spacing));
    }
    spacing = {numbers[2], numbers[1], numbers[0]};
  }
  for (const double distance : spacing) {
    if (std::isfinite(distance) && distance > 0) continue;
    throw UsageError(
        fmt::format("{}: voxels of {} x {} x {} mm are not valid; give their size with --spacing",
                    name, spacing[0], spacing[1], spacing[2]));
  }
  return {spacing[0], spacing[1], spacing[2]};
}

HostVolume host_volume_of(const Array& voxels) {
  return {voxels.bytes.data(), voxels.type, voxels.shape()};
}

/// Reads the next volumes on a thread of its own.
class VolumeReader {
 public:
  explicit VolumeReader(VolumeSeries& series) : series_(series) {
    for (std::size_t i = 0; i < read_ahead; ++i) request();
  }
  [[nodiscard]] std::optional<SeriesVolume> next() {
    std::optional<SeriesVolume> volume = pending_.front().get();
    pending_.pop_front();
    request();
    return volume;
  }

 private:
  void request() {
    pending_.push_back(worker_.give([this] { return series_.next(); }));
  }

  VolumeSeries& series_;
  std::deque<std::future<std::optional<SeriesVolume>>> pending_;
  OrderedWorker worker_;
};

/// Registers and warps the volumes of a series.
class SeriesRun {
 public:
  SeriesRun(const StackOptions& options, const SeriesGeometry& geometry, const Device& device,
            const VolumeSeriesOptions& settings)
      : options_(options), geometry_(geometry), registrar_(device, settings) {}

  /// Sets the reference, and returns its intensities and what it is.
  std::string choose_reference(const SeriesReference& choice, std::vector<std::string>& notes);
  [[nodiscard]] const Array& reference() const { return reference_; }
  /// Calls `use(volume, row)` for each volume from `first` on, on this thread. `volume.voxels` are
  /// aligned. Returns why the series ended early, or nothing.
  template <class Use>
  std::string each(Progress& progress, const std::string& what, std::size_t first, const Use& use);
  /// Continues after the volumes that an earlier run finished.
  void continue_after(const std::vector<SeriesRow>& rows);

 private:
  void set_reference(Array voxels, const std::string& name);
  void note_other_position(const VolumeFile& file, std::vector<std::string>& notes) const;
  std::string use_first();
  std::string use_mean();

  const StackOptions& options_;
  const SeriesGeometry& geometry_;
  VolumeSeriesRegistrar registrar_;
  Array reference_;
};

void SeriesRun::set_reference(Array voxels, const std::string& name) {
  try {
    registrar_.set_reference(host_volume_of(voxels));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::invalid_image && error.kind() != ErrorKind::invalid_argument) {
      throw;
    }
    throw UsageError(fmt::format("{}: {}", name, error.message()));
  }
  reference_ = std::move(voxels);
}

/// The header of the series counts, but a reference that lies elsewhere may be the wrong file.
void SeriesRun::note_other_position(const VolumeFile& file, std::vector<std::string>& notes) const {
  if (!file.index_to_world || !geometry_.index_to_world || !file.spacing) return;
  const double apart =
      corner_distance(header_transform(*file.index_to_world, *geometry_.index_to_world),
                      HomogeneousMatrix{}, *geometry_.index_to_world, file.voxels.shape());
  const double voxel = *std::min_element(file.spacing->begin(), file.spacing->end());
  if (apart <= voxel / 2) return;
  notes.push_back(fmt::format(
      "{}: its header places the voxels up to {:.3g} mm from those of the series, whose header "
      "counts",
      file.name, apart));
}

/// Volumes that cannot be used are reported when their turn comes.
std::string SeriesRun::use_first() {
  VolumeSeries series(options_.files);
  std::string trouble;
  while (auto volume = series.next()) {
    if (volume->trouble.empty()) {
      try {
        set_reference(std::move(volume->voxels), volume->name);
        return fmt::format("volume {}", volume->index);
      } catch (const UsageError& error) {
        volume->trouble = error.what();
      }
    }
    if (trouble.empty()) trouble = volume->trouble;
  }
  throw FileError(trouble.empty() ? series.ended_early() : trouble);
}

std::string SeriesRun::use_mean() {
  (void)use_first();
  VolumeMean mean(static_cast<std::size_t>(reference_.shape().pixels()));
  Progress progress(VolumeSeries(options_.files).volumes());
  (void)each(progress, "first pass", 0, [&](const SeriesVolume& volume, const SeriesRow& row) {
    if (row.status == "ok") mean.add(volume.voxels);
  });
  if (mean.has_volumes()) set_reference(mean.mean(reference_.extents), "the mean");
  return fmt::format("the mean of {} volumes aligned to the first", mean.volumes());
}

std::string SeriesRun::choose_reference(const SeriesReference& choice,
                                        std::vector<std::string>& notes) {
  if (choice.kind == SeriesReference::Kind::first) return use_first();
  if (choice.kind == SeriesReference::Kind::mean) return use_mean();
  if (choice.kind == SeriesReference::Kind::file) {
    VolumeFile file = load_volume(choice.file);
    if (file.voxels.extents != geometry_.extents) {
      const Array volume{geometry_.extents, geometry_.type, {}};
      throw UsageError(fmt::format("--to {}: is {}, but the volumes are {}", choice.file,
                                   to_string(file.voxels.shape()), to_string(volume.shape())));
    }
    note_other_position(file, notes);
    set_reference(std::move(file.voxels), choice.file);
    return choice.file;
  }
  VolumeSeries series(options_.files);
  series.skip(choice.volume);
  auto volume = series.next();
  if (!volume) {
    throw UsageError(fmt::format("--to {}: the series has {} volumes, numbered from 0",
                                 choice.volume, series.volumes()));
  }
  if (!volume->trouble.empty()) throw FileError(volume->trouble);
  set_reference(std::move(volume->voxels), volume->name);
  return fmt::format("volume {}", choice.volume);
}

void SeriesRun::continue_after(const std::vector<SeriesRow>& rows) {
  const auto last = std::find_if(rows.rbegin(), rows.rend(),
                                 [](const SeriesRow& row) { return row.status == "ok"; });
  if (last != rows.rend()) registrar_.start_from(last->found.matrix);
}

template <class Use>
std::string SeriesRun::each(Progress& progress, const std::string& what, std::size_t first,
                            const Use& use) {
  VolumeSeries series(options_.files);
  series.skip(first);
  VolumeReader reader(series);
  while (std::optional<SeriesVolume> volume = reader.next()) {
    progress.next(fmt::format("{}, volume {}", what, volume->index));
    SeriesRow row{volume->index, volume->name, "failed", volume->trouble, {}, {}, {}, {}};
    if (row.reason.empty()) {
      Array aligned = make_array(volume->voxels.extents, volume->voxels.type);
      try {
        row.found = registrar_.align(host_volume_of(volume->voxels), aligned.bytes.data());
        row.status = row.found.reliable ? "ok" : "unreliable";
        volume->voxels = std::move(aligned);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::invalid_image) throw;
        row.reason = fmt::format("{}: {}", volume->name, error.message());
      }
    }
    use(std::move(*volume), std::move(row));
  }
  return series.ended_early();
}

ExitStatus status_of(const SeriesSummary& summary, const std::string& ended_early) {
  if (summary.failed() > 0 || !ended_early.empty()) return ExitStatus::bad_input;
  return summary.unreliable() > 0 ? ExitStatus::unreliable : ExitStatus::ok;
}

}  // namespace

ExitStatus run_volume_series(const StackOptions& typed) {
  const auto start = std::chrono::steady_clock::now();
  StackOptions options = typed;
  refuse_options_of_images(options);
  const SeriesReference choice = series_reference_of(options.to);
  VolumeSeriesOptions settings;
  settings.motion = series_motion_of(options.choices.motion);
  SeriesSetting setting;
  setting.radius_mm = radius_of(options.volumes);
  options.files = volume_files(options.files);
  check_series_names(options);
  check_series_resumable(options);
  const Config config = config_of(options.device.config);
  const VolumeSeries series(options.files);
  const SeriesGeometry& geometry = series.geometry();
  settings.spacing = series_spacing_of(options.volumes, geometry, options.files.front());
  std::optional<VolumeSeriesJournal> journal;
  if (options.resume) journal.emplace(options);
  SeriesOutputs outputs(options, geometry, settings.spacing, journal ? &*journal : nullptr);

  const Device device = open_for_one_job(options.device, config);
  setting.device = device.info();
  setting.motion = name_of(settings.motion);
  const Array like{geometry.extents, geometry.type, {}};
  setting.series =
      fmt::format("{} ({} volumes of {})", options.files.front(), series.volumes(), describe(like));
  setting.world = geometry.index_to_world
                      ? "along the scanner's axes x (right), y (front), z (head)"
                      : "along the stored axes x, y, z";
  if (!geometry.note.empty()) {
    setting.notes.push_back(options.files.front() + ": " + geometry.note);
  }
  SeriesRun run(options, geometry, device, settings);
  setting.reference = run.choose_reference(choice, setting.notes);
  outputs.start(setting, run.reference());
  const std::size_t done = journal ? journal->rows().size() : 0;
  if (journal) run.continue_after(journal->rows());

  Progress progress(series.volumes());
  std::string ended_early;
  {
    // Declared last: it drops its tasks before what they use is destroyed.
    std::deque<std::future<void>> written;
    OrderedWorker writer;
    ended_early = run.each(progress, "registering", done, [&](SeriesVolume volume, SeriesRow row) {
      if (!row.reason.empty()) progress.say(fmt::format("warpalign: {}", row.reason));
      written.push_back(writer.give([&outputs, volume = std::move(volume), row]() mutable {
        outputs.add(std::move(volume), std::move(row));
      }));
      while (written.size() > max_waiting) {
        written.front().get();
        written.pop_front();
      }
    });
    for (std::future<void>& task : written) task.get();
  }
  if (!ended_early.empty()) {
    progress.say(fmt::format("warpalign: {}; {} of {} volumes are whole", ended_early,
                             outputs.summary().volumes(), series.volumes()));
  }
  if (outputs.summary().volumes() == 0) return ExitStatus::bad_input;
  progress.pause();
  const std::vector<std::string> files = outputs.finish(ended_early);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report(outputs.summary().text(setting, files, seconds));
  return status_of(outputs.summary(), ended_early);
}

}  // namespace warpalign::program
