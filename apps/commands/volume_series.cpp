// `warpalign stack` of a series of volumes: registers each volume to one, and removes its motion.
#include "commands/volume_series.hpp"

#include "commands/known_volumes.hpp"
#include "commands/ordered_worker.hpp"
#include "commands/volume_headers.hpp"
#include "commands/volume_mean.hpp"
#include "commands/volume_series_journal.hpp"
#include "commands/volume_series_outputs.hpp"
#include "io/array_file.hpp"
#include "io/frames/axis_letters.hpp"
#include "io/frames/input_files.hpp"
#include "io/messages.hpp"
#include "io/progress.hpp"
#include "io/tiff_name.hpp"
#include "io/transform_file.hpp"
#include "io/usage_error.hpp"
#include "io/volume_file.hpp"
#include "io/volume_series.hpp"
#include "options/file_names.hpp"
#include "options/number_list.hpp"
#include "options/volume_options.hpp"
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
#include <memory>
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

Motion series_motion_of(const std::optional<std::string>& name, SeriesKind kind) {
  if (!name || *name == "rigid") return Motion::rigid;
  if (*name == "translation") return Motion::translation;
  if (*name == "similarity") return Motion::similarity;
  if (*name == "affine") return Motion::affine;
  if (*name == "deformable") return Motion::deformable;
  throw UsageError(fmt::format(
      "invalid value '{}' for --motion (volumes have translation, rigid, similarity, affine, "
      "deformable){}",
      *name,
      kind == SeriesKind::recording ? "; choose a plane or a projection with --z for others" : ""));
}

/// Of --motion, --grid-spacing and --bending-weight.
VolumeSeriesOptions series_settings_of(const RegistrationChoices& choices, SeriesKind kind) {
  VolumeSeriesOptions settings;
  settings.motion = series_motion_of(choices.motion, kind);
  const auto given = [&](const char* name) -> std::optional<std::string> {
    const auto found = choices.by_name.find(name);
    return found == choices.by_name.end() ? std::nullopt : found->second;
  };
  settings.grid_spacing = parse_number("--grid-spacing", given("grid_spacing"));
  const auto weight = parse_number("--bending-weight", given("bending_weight"));
  refuse_without_deformation(settings.motion, settings.grid_spacing, weight);
  settings.bending_weight = bending_weight_of(weight);
  return settings;
}

void refuse_options_of_images(const StackOptions& options, SeriesKind kind) {
  const RegistrationChoices& choices = options.choices;
  const bool is_recording = kind == SeriesKind::recording;
  const auto refuse = [&](const std::string& option) {
    throw UsageError(fmt::format("{}: is for stacks of images, and these are volumes{}", option,
                                 is_recording ? "; choose a plane or a projection with --z" : ""));
  };
  const std::pair<bool, const char*> given[] = {
      {options.channel && !is_recording, "--channel"},
      {options.weights && !is_recording, "--channel-weights"},
      {options.only_channel && !is_recording, "--only-channel"},
      {options.slice && !is_recording, "--z"},
      {options.only_slice, "--only-z"},
      {options.bidirectional, "--bidirectional"},
      {options.line_offset.has_value(), "--line-offset"},
      {options.align_channels.has_value(), "--align-channels"},
      {options.folder.has_value(), "--output-folder"},
      {options.video.has_value(), "--output-video"},
      {options.field.has_value(), "--field"},
      {options.page.has_value(), "--report"},
      {options.mask.has_value(), "--mask"},
      {options.initial.has_value(), "--initial"},
      {options.fixed_pattern.has_value(), "--fixed-pattern"},
      {options.nodata.has_value(), "--nodata"},
      {options.shard.has_value(), "--shard"},
      {choices.fast, "--fast"},
      {choices.no_refine, "--no-refine"},
      {choices.candidates.has_value(), "--candidates"},
      {choices.scale_range.has_value(), "--scale-range"},
      {choices.angle_range.has_value(), "--angle-range"},
      {choices.max_shift.has_value(), "--max-shift"}};
  for (const auto& [is_given, option] : given) {
    if (is_given) refuse(option);
  }
  for (const RegistrationOptionInfo* info : given_by_name(choices)) {
    if (!describes_deformation(*info)) refuse(flag_of(*info));
  }
  refuse_local_options(options.local);
}

void check_series_output(const char* option, const std::string& name, SeriesKind kind) {
  if (kind == SeriesKind::recording && is_tiff_name(name)) return;
  check_series_name(option, name);
}

void check_series_names(const StackOptions& options, SeriesKind kind) {
  if (options.output) check_series_output("--output", *options.output, kind);
  if (options.volumes.mean) check_series_output("--mean", *options.volumes.mean, kind);
  if (options.plot && !options.plot->ends_with(".svg")) {
    throw UsageError(
        fmt::format("--plot {}: is written as SVG; use a name that ends in .svg", *options.plot));
  }
  if (options.axes) check_axis_letters(*options.axes);
  std::vector<std::string> inputs = options.files;
  if (options.apply) inputs.push_back(*options.apply);
  const SeriesReference reference = series_reference_of(options.to);
  if (reference.kind == SeriesReference::Kind::file) inputs.push_back(reference.file);
  check_outputs({{"--output", options.output},
                 {"--mean", options.volumes.mean},
                 {"--csv", options.csv},
                 {"--json", options.json},
                 {"--plot", options.plot}},
                inputs);
}

/// Half of the longest side of a recording; of a head, as in Power et al. 2012.
double radius_of(const VolumeSeriesChoices& choices, const SeriesGeometry& geometry,
                 const Point3& spacing) {
  double usual = 50;
  if (geometry.unit != "mm") {
    const auto& extents = geometry.extents;
    usual = std::max({static_cast<double>(extents[2]) * spacing.x,
                      static_cast<double>(extents[1]) * spacing.y,
                      static_cast<double>(extents[0]) * spacing.z}) /
            2;
  }
  return choices.radius.value_or(usual);
}

void check_radius(const VolumeSeriesChoices& choices) {
  if (!choices.radius || (*choices.radius > 0 && std::isfinite(*choices.radius))) return;
  throw UsageError(fmt::format("--radius {}: must be above 0", *choices.radius));
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
        fmt::format("{}: voxels of {} x {} x {} {} are not valid; give their size with --spacing",
                    name, spacing[0], spacing[1], spacing[2], geometry.unit));
  }
  return {spacing[0], spacing[1], spacing[2]};
}

HostVolume host_volume_of(const Array& voxels) {
  return {voxels.bytes.data(), voxels.type, voxels.shape()};
}

/// Reads the next volumes on a thread of its own.
class VolumeReader {
 public:
  explicit VolumeReader(SeriesInput& series) : series_(series) {
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

  SeriesInput& series_;
  std::deque<std::future<std::optional<SeriesVolume>>> pending_;
  OrderedWorker worker_;
};

/// Registers and warps the volumes of a series. Several devices take turns.
class SeriesRun {
 public:
  SeriesRun(const StackOptions& options, SeriesKind kind, const SeriesGeometry& geometry,
            const std::vector<Device>& devices, const VolumeSeriesOptions& settings)
      : options_(options), kind_(kind), geometry_(geometry) {
    for (const Device& device : devices) {
      lanes_.push_back(std::make_unique<Lane>(VolumeSeriesRegistrar(device, settings)));
    }
  }

  /// Sets the reference, and returns its intensities and what it is.
  std::string choose_reference(const SeriesReference& choice, std::vector<std::string>& notes);
  [[nodiscard]] const Array& reference() const { return reference_; }
  /// Calls `use(volume, row)` for each volume from `first` on, on this thread. The voxels and the
  /// channels of `volume` are aligned. `known`: what an earlier run found of the first volumes, or
  /// of all, which are only warped. Returns why the series ended early, or nothing.
  template <class Use>
  std::string each(Progress& progress, const std::string& what, std::size_t first, const Use& use,
                   const std::vector<SeriesRow>* known = nullptr);
  /// Continues after the volumes that an earlier run finished.
  void continue_after(const std::vector<SeriesRow>& rows);

 private:
  struct AlignedVolume {
    SeriesVolume volume;
    SeriesRow row;
  };
  /// A device, and the thread that uses it.
  struct Lane {
    explicit Lane(VolumeSeriesRegistrar registrar_) : registrar(std::move(registrar_)) {}
    VolumeSeriesRegistrar registrar;
    OrderedWorker worker;
  };

  [[nodiscard]] SeriesInput input() const { return {options_, kind_}; }
  [[nodiscard]] Lane& lane_of(std::size_t volume) { return *lanes_[volume % lanes_.size()]; }
  static AlignedVolume aligned(VolumeSeriesRegistrar& registrar, SeriesVolume volume,
                               const SeriesRow* known);
  static void warp_channels(VolumeSeriesRegistrar& registrar, const VolumeRegistration& found,
                            SeriesVolume& volume);
  void set_reference(Array voxels, const std::string& name);
  void note_other_position(const VolumeFile& file, std::vector<std::string>& notes) const;
  void use_file(const std::string& name, std::vector<std::string>& notes);
  std::string use_first();
  std::string use_mean();

  const StackOptions& options_;
  SeriesKind kind_;
  const SeriesGeometry& geometry_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  Array reference_;
};

void SeriesRun::set_reference(Array voxels, const std::string& name) {
  try {
    for (const auto& lane : lanes_) lane->registrar.set_reference(host_volume_of(voxels));
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
  SeriesInput series = input();
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
  Progress progress(input().volumes());
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
    use_file(choice.file, notes);
    return choice.file;
  }
  SeriesInput series = input();
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

void SeriesRun::use_file(const std::string& name, std::vector<std::string>& notes) {
  VolumeFile file;
  if (kind_ == SeriesKind::recording && !is_nifti_name(name) && !is_npy_name(name)) {
    StackOptions one = options_;
    one.files = {name};
    std::optional<SeriesVolume> volume = SeriesInput(one, kind_).next();
    if (volume && !volume->trouble.empty()) throw FileError(volume->trouble);
    if (volume) file.voxels = std::move(volume->voxels);
  } else {
    file = load_volume(name);
  }
  if (file.voxels.extents != geometry_.extents) {
    const Array volume{geometry_.extents, geometry_.type, {}};
    throw UsageError(fmt::format("--to {}: is {}, but the volumes are {}", name,
                                 to_string(file.voxels.shape()), to_string(volume.shape())));
  }
  note_other_position(file, notes);
  set_reference(std::move(file.voxels), name);
}

void SeriesRun::continue_after(const std::vector<SeriesRow>& rows) {
  for (const SeriesRow& row : rows) {
    if (row.status == "ok") lane_of(row.index).registrar.start_from(row.found.matrix);
  }
}

void SeriesRun::warp_channels(VolumeSeriesRegistrar& registrar, const VolumeRegistration& found,
                              SeriesVolume& volume) {
  for (Array& channel : volume.channels) {
    Array warped = make_array(channel.extents, channel.type);
    const HostVolume voxels = host_volume_of(channel);
    if (found.deformation) {
      registrar.warp(voxels, found.deformation->transform, warped.bytes.data());
    } else {
      registrar.warp(voxels, found.matrix, warped.bytes.data());
    }
    channel = std::move(warped);
  }
}

SeriesRun::AlignedVolume SeriesRun::aligned(VolumeSeriesRegistrar& registrar, SeriesVolume volume,
                                            const SeriesRow* known) {
  SeriesRow row{volume.index, volume.name, "failed", volume.trouble, {}, {}, {}, {}};
  if (known != nullptr && volume.trouble.empty()) {
    row.status = known->status;
    row.reason = known->reason;
    row.found = known->found;
  }
  if (!volume.trouble.empty() || !row.reason.empty()) return {std::move(volume), std::move(row)};
  try {
    Array warped = make_array(volume.voxels.extents, volume.voxels.type);
    if (known == nullptr) {
      row.found = registrar.align(host_volume_of(volume.voxels), warped.bytes.data());
      row.status = row.found.reliable ? "ok" : "unreliable";
    } else if (row.status == "ok") {
      registrar.warp(host_volume_of(volume.voxels), row.found.matrix, warped.bytes.data());
    }
    if (row.status == "ok") {
      warp_channels(registrar, row.found, volume);
      volume.voxels = std::move(warped);
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::invalid_image) throw;
    row.status = "failed";
    row.reason = fmt::format("{}: {}", volume.name, error.message());
  }
  return {std::move(volume), std::move(row)};
}

template <class Use>
std::string SeriesRun::each(Progress& progress, const std::string& what, std::size_t first,
                            const Use& use, const std::vector<SeriesRow>* known) {
  SeriesInput series = input();
  series.skip(first);
  VolumeReader reader(series);
  std::deque<std::future<AlignedVolume>> running;
  const auto use_next = [&] {
    std::future<AlignedVolume> next = std::move(running.front());
    running.pop_front();
    AlignedVolume found = next.get();
    use(std::move(found.volume), std::move(found.row));
  };
  try {
    while (std::optional<SeriesVolume> volume = reader.next()) {
      progress.next(fmt::format("{}, volume {}", what, volume->index));
      const std::size_t index = volume->index;
      const SeriesRow* row = known != nullptr && index < known->size() ? &(*known)[index] : nullptr;
      Lane& lane = lane_of(index);
      running.push_back(lane.worker.give(
          [&registrar = lane.registrar, row, volume = *std::move(volume)]() mutable {
            return aligned(registrar, std::move(volume), row);
          }));
      if (running.size() > lanes_.size()) use_next();
    }
    while (!running.empty()) use_next();
  } catch (...) {
    for (const auto& task : running) task.wait();
    throw;
  }
  return series.ended_early();
}

/// The transforms of --apply, for all volumes. Throws UsageError if they are not those of `series`.
std::optional<KnownVolumes> applied_volumes(const StackOptions& options, const SeriesInput& series,
                                            const SeriesGeometry& geometry) {
  const std::optional<KnownDriftChoice> choice = known_drift_choice(options, 3);
  if (!choice) return {};
  std::optional<PointGrid> grid;
  if (geometry.index_to_world) grid = load_grid(options.files.front());
  const Array like{geometry.extents, geometry.type, {}};
  KnownVolumes known = known_volumes(*choice, load_volume_drift(choice->file, grid), like.shape(),
                                     geometry.spacing.value());
  if (known.rows.size() == series.volumes()) return known;
  throw UsageError(fmt::format("--apply {}: holds the transforms of {} volumes, and there are {}",
                               choice->file, known.rows.size(), series.volumes()));
}

ExitStatus status_of(const SeriesSummary& summary, const std::string& ended_early) {
  if (summary.failed() > 0 || !ended_early.empty()) return ExitStatus::bad_input;
  return summary.unreliable() > 0 ? ExitStatus::unreliable : ExitStatus::ok;
}

}  // namespace

ExitStatus run_volume_series(const StackOptions& typed, SeriesKind kind) {
  const auto start = std::chrono::steady_clock::now();
  StackOptions options = typed;
  refuse_options_of_images(options, kind);
  const SeriesReference choice = series_reference_of(options.to);
  VolumeSeriesOptions settings = series_settings_of(options.choices, kind);
  check_radius(options.volumes);
  options.files =
      kind == SeriesKind::recording ? input_files(options.files) : volume_files(options.files);
  check_series_names(options, kind);
  check_series_resumable(options);
  const Config config = config_of(options.device.config);
  const SeriesInput series(options, kind);
  SeriesGeometry geometry = series.geometry();
  if (kind == SeriesKind::recording && options.volumes.spacing) {
    geometry.unit = "um";
    geometry.note.clear();
  }
  settings.spacing = series_spacing_of(options.volumes, geometry, options.files.front());
  geometry.spacing = {settings.spacing.x, settings.spacing.y, settings.spacing.z};
  const Array like{geometry.extents, geometry.type, {}};
  if (settings.grid_spacing) {
    check_grid_spacing(*settings.grid_spacing, like.shape(), settings.spacing);
  }
  const std::size_t volumes = series.volumes();
  const std::optional<KnownVolumes> applied = applied_volumes(options, series, geometry);
  std::optional<VolumeSeriesJournal> journal;
  if (options.resume) journal.emplace(options);
  SeriesOutputs outputs(options, series, geometry, volumes, journal ? &*journal : nullptr);

  SeriesSetting setting;
  setting.unit = geometry.unit;
  setting.radius = radius_of(options.volumes, geometry, settings.spacing);
  const std::vector<Device> devices = names_several_devices(options.device)
                                          ? open_each_chosen(options.device, config)
                                          : std::vector{open_for_one_job(options.device, config)};
  setting.device = devices.front().info();
  setting.motion = applied ? applied->motion : name_of(settings.motion);
  setting.shape = like.shape();
  setting.series =
      fmt::format("{} ({} volumes of {})", options.files.front(), volumes, describe(like));
  setting.world = geometry.index_to_world
                      ? "along the scanner's axes x (right), y (front), z (head)"
                      : "along the stored axes x, y, z";
  if (!geometry.note.empty()) {
    setting.notes.push_back(options.files.front() + ": " + geometry.note);
  }
  SeriesRun run(options, kind, geometry, devices, settings);
  setting.reference = run.choose_reference(choice, setting.notes);
  if (applied) setting.reference = "that of " + *options.apply;
  outputs.start(setting, run.reference());
  // The output of a recording does not tell what was registered, so its volumes are warped again.
  const std::vector<SeriesRow>* known = applied ? &applied->rows : nullptr;
  std::size_t done = 0;
  if (journal) {
    if (!applied) run.continue_after(journal->rows());
    if (kind != SeriesKind::recording) {
      done = journal->rows().size();
    } else if (!applied && settings.motion != Motion::deformable) {
      known = &journal->rows();  // it keeps no deformations
    }
  }

  Progress progress(volumes);
  std::string ended_early;
  {
    // Declared last: it drops its tasks before what they use is destroyed.
    std::deque<std::future<void>> written;
    OrderedWorker writer;
    const auto write = [&](SeriesVolume volume, SeriesRow row) {
      if (!row.reason.empty()) progress.say(fmt::format("warpalign: {}", row.reason));
      written.push_back(writer.give([&outputs, volume = std::move(volume), row]() mutable {
        outputs.add(std::move(volume), std::move(row));
      }));
      while (written.size() > max_waiting) {
        written.front().get();
        written.pop_front();
      }
    };
    ended_early = run.each(progress, applied ? "applying" : "registering", done, write, known);
    for (std::future<void>& task : written) task.get();
  }
  if (!ended_early.empty()) {
    progress.say(fmt::format("warpalign: {}; {} of {} volumes are whole", ended_early,
                             outputs.summary().volumes(), volumes));
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
