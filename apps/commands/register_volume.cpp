// `warpalign register-volume`: finds the transform between two volumes.
#include "commands/commands.hpp"
#include "commands/deformed.hpp"
#include "commands/initial_transform.hpp"
#include "commands/missing_samples.hpp"
#include "commands/volume_headers.hpp"
#include "commands/volume_sides.hpp"
#include "io/atomic_file.hpp"
#include "io/messages.hpp"
#include "io/npy.hpp"
#include "io/registrable_image.hpp"
#include "io/status_line.hpp"
#include "io/usage_error.hpp"
#include "io/volume_file.hpp"
#include "options/command_line.hpp"
#include "options/common_options.hpp"
#include "options/file_names.hpp"
#include "options/number_list.hpp"
#include "options/volume_options.hpp"
#include "reports/volume_report.hpp"

#include "transform_files/matrices.hpp"

#include <warpalign/error.hpp>
#include <warpalign/missing.hpp>
#include <warpalign/motion_limits.hpp>
#include <warpalign/open_device.hpp>
#include <warpalign/stages/resample.hpp>
#include <warpalign/volume_registrar.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

namespace warpalign::program {
namespace {

struct Options {
  std::string reference;
  std::string moving;
  DeviceOptions device;
  std::optional<std::string> output;
  std::optional<std::string> field;
  std::optional<std::string> jacobian;
  std::optional<std::string> agreement;
  std::optional<std::string> reference_mask;
  std::optional<std::string> moving_mask;
  std::optional<double> nodata;
  std::optional<std::string> initial;
  std::optional<std::string> motion;
  std::optional<std::string> modality;
  std::optional<double> max_rotation;
  std::optional<double> grid_spacing;
  std::optional<double> bending_weight;
  std::optional<std::string> max_shift;
  std::optional<std::string> spacing;
  std::optional<std::string> moving_spacing;
  std::optional<std::string> volume;
  bool ignore_positions = false;
  bool no_refine = false;
  bool json = false;
  bool timings = false;
};

std::vector<std::string> inputs_of(const Options& options) {
  std::vector<std::string> inputs{options.reference, options.moving};
  if (options.reference_mask) inputs.push_back(*options.reference_mask);
  if (options.moving_mask) inputs.push_back(*options.moving_mask);
  if (options.initial) inputs.push_back(*options.initial);
  return inputs;
}

void check_names(const Options& options) {
  const std::vector<NamedOutput> arrays{{"--field", options.field},
                                        {"--jacobian", options.jacobian},
                                        {"--agreement", options.agreement}};
  for (const NamedOutput& array : arrays) {
    if (array.name && !is_npy_name(*array.name)) {
      throw UsageError(
          fmt::format("{} {}: use a name that ends in .npy", array.option, *array.name));
    }
  }
  std::vector<NamedOutput> outputs{{"--output", options.output}};
  outputs.insert(outputs.end(), arrays.begin(), arrays.end());
  check_outputs(outputs, inputs_of(options));
  if (!options.output) return;
  if (!is_npy_name(*options.output) && !is_nifti_name(*options.output)) {
    throw UsageError(
        fmt::format("--output {}: volumes are written as .npy, .nii or .nii.gz; use a name that "
                    "ends in one of these",
                    *options.output));
  }
}

Motion motion_of(const std::optional<std::string>& name) {
  if (!name || *name == "translation") return Motion::translation;
  if (*name == "rigid") return Motion::rigid;
  if (*name == "similarity") return Motion::similarity;
  if (*name == "affine") return Motion::affine;
  if (*name == "deformable") return Motion::deformable;
  throw UsageError(fmt::format(
      "invalid value '{}' for --motion (choose from: translation, rigid, similarity, affine, "
      "deformable)",
      *name));
}

double max_rotation_of(const Options& options) {
  if (!options.max_rotation) return VolumeRegistrationOptions{}.max_rotation;
  if (fixes_rotation(motion_of(options.motion))) {
    throw UsageError(
        "--max-rotation: --motion translation keeps the angle at 0; omit one of the two");
  }
  return checked_rotation(*options.max_rotation);
}

Point3 max_shift_of(const std::optional<std::string>& text) {
  if (!text) return {};
  std::vector<double> limits = parse_numbers("--max-shift", *text);
  if (limits.size() == 1) limits.resize(3, limits.front());
  const auto positive = [](double limit) { return limit > 0; };
  if (limits.size() != 3 || !std::all_of(limits.begin(), limits.end(), positive)) {
    throw UsageError(fmt::format(
        "--max-shift {}: must be a number above 0, or three for x, y and z; omit it to allow any "
        "shift",
        *text));
  }
  return {limits[0], limits[1], limits[2]};
}

/// The distances along x, y and z: from the option, from the file, or 1.
Point3 spacing_of(const std::string& option, const std::optional<std::string>& text,
                  const VolumeFile& file) {
  const auto found =
      text ? parse_spacing(option, *text) : file.spacing.value_or(std::array<double, 3>{1, 1, 1});
  for (const double distance : found) {
    if (std::isfinite(distance) && distance > 0) continue;
    throw UsageError(
        fmt::format("{}: its header gives voxels of {} x {} x {} mm, which is not valid; give "
                    "their size with {}",
                    file.name, found[0], found[1], found[2], option));
  }
  return {found[0], found[1], found[2]};
}

/// Refuses a pair in which only one file has a spacing, because the other one would be in unknown
/// units.
void require_both_spacings(const Options& options, const VolumeFile& reference,
                           const VolumeFile& moving) {
  if (options.spacing || reference.spacing.has_value() == moving.spacing.has_value()) return;
  const VolumeFile& without = reference.spacing ? moving : reference;
  if (&without == &moving && options.moving_spacing) return;
  throw UsageError(
      fmt::format("{}: has no voxel size, but the other file has one; give the size with "
                  "--spacing or --moving-spacing",
                  without.name));
}

VolumeRegistrationOptions settings_of(const Options& options) {
  VolumeRegistrationOptions settings;
  settings.grid_spacing = options.grid_spacing;
  settings.bending_weight = bending_weight_of(options.bending_weight);
  settings.motion = motion_of(options.motion);
  settings.modality = volume_modality_of(options.modality);
  settings.max_rotation = max_rotation_of(options);
  settings.max_shift = max_shift_of(options.max_shift);
  settings.refine = !options.no_refine;
  settings.collect_timings = options.timings;
  if (options.spacing) (void)parse_spacing("--spacing", *options.spacing);
  if (options.moving_spacing) (void)parse_spacing("--moving-spacing", *options.moving_spacing);
  return settings;
}

VolumeRegistrationOptions settings_of(const Options& options, const VolumeFile& reference,
                                      const VolumeSide& side) {
  VolumeRegistrationOptions settings = settings_of(options);
  const VolumeFile& moving = side.file;
  require_both_spacings(options, reference, moving);
  settings.reference_spacing = spacing_of("--spacing", options.spacing, reference);
  if (options.grid_spacing) {
    check_grid_spacing(*options.grid_spacing, reference.voxels.shape(), settings.reference_spacing);
  }
  const bool own = options.moving_spacing.has_value();
  settings.moving_spacing = spacing_of(own ? "--moving-spacing" : "--spacing",
                                       own ? options.moving_spacing : options.spacing, moving);
  // An option gives the spacing along the axes as stored; a file's spacing is along the reordered
  // axes already.
  if (own || options.spacing) {
    const Point3& s = settings.moving_spacing;
    const auto along = reordered(std::array<double, 3>{s.x, s.y, s.z}, side.order);
    settings.moving_spacing = {along[0], along[1], along[2]};
  }
  return settings;
}

HostVolume view_of(const Array& volume) {
  return {volume.bytes.data(), volume.type, volume.shape()};
}

void require_finite(const VolumeRegistration& result) {
  const Point3& t = result.translation;
  std::vector<double> numbers{t.x,
                              t.y,
                              t.z,
                              result.confidence,
                              result.correlation,
                              result.significance,
                              result.rotation_deg,
                              result.scale};
  numbers.insert(numbers.end(), result.matrix.m.begin(), result.matrix.m.end());
  for (const double n : numbers) {
    if (std::isfinite(n)) continue;
    throw Error(ErrorKind::device_failure,
                "the device computed numbers that are not finite; try another one with --device");
  }
}

void set_reference(VolumeRegistrar& registrar, const VolumeSide& side) {
  const HostVolume voxels = view_of(side.file.voxels);
  naming(side.file.name, [&] {
    if (side.mask) return registrar.set_reference(voxels, view_of(*side.mask));
    registrar.set_reference(voxels);
  });
}

/// The transform of --initial and the name of its file.
struct Initial {
  std::string file;
  HomogeneousMatrix transform;
};

VolumeRegistration align(VolumeRegistrar& registrar, const VolumeSide& side,
                         const std::optional<Initial>& initial) {
  const HostVolume voxels = view_of(side.file.voxels);
  VolumeRegistration result;
  const auto work = [&] {
    result = side.mask ? registrar.align(voxels, view_of(*side.mask)) : registrar.align(voxels);
  };
  naming(side.file.name, [&] {
    if (!initial) return work();
    naming_initial(initial->file, work);
  });
  return result;
}

/// How two headers place the volumes relative to one another.
struct Headers {
  HomogeneousMatrix transform;  ///< from reference to moving voxels
  HomogeneousMatrix start;      ///< the same, restricted to translations if the motion is
};

std::optional<Headers> headers_of(const VolumeRegistrationOptions& settings,
                                  const VolumeSide& reference, const VolumeSide& moving) {
  const auto& from = reference.file.index_to_world;
  const auto& to = moving.file.index_to_world;
  if (!from || !to) return std::nullopt;
  const HomogeneousMatrix transform = header_transform(*from, *to);
  const Point3& r = settings.reference_spacing;
  const Point3& m = settings.moving_spacing;
  if (settings.motion != Motion::translation) return Headers{transform, transform};
  return Headers{transform, translation_of(transform, reference.file.voxels.shape(),
                                           {r.x, r.y, r.z}, {m.x, m.y, m.z})};
}

// A result of the search must exceed the significance of the one that the headers lead to by this
// factor. Chance alone makes two fits of the same pose differ by a few per cent.
constexpr double min_gain_over_headers = 1.05;

bool is_about_initial(bool is_argument, const std::string& message) {
  return is_argument && message.find("initial transform") != std::string::npos;
}

/// Registers from the position that the headers give. Returns nothing if it is impossible by the
/// options or by the sizes of the volumes.
std::optional<VolumeRegistration> align_from_headers(VolumeRegistrar& registrar,
                                                     const VolumeSide& moving,
                                                     const Headers& headers) {
  std::optional<VolumeRegistration> result;
  try {
    registrar.set_initial(headers.start);
    result = align(registrar, moving, std::nullopt);
  } catch (const Error& error) {
    if (!is_about_initial(error.kind() == ErrorKind::invalid_argument, error.message())) throw;
  } catch (const UsageError& error) {  // thrown by align(), which names the file
    if (!is_about_initial(true, error.what())) throw;
  }
  registrar.clear_initial();
  return result;
}

/// Headers may be wrong, and what lies near a wrong pose can look significant. So the search starts
/// from the headers and everywhere, and the more significant result counts.
VolumeRegistration align_by_both(VolumeRegistrar& registrar, const VolumeSide& moving,
                                 const Headers& headers) {
  const auto near = align_from_headers(registrar, moving, headers);
  VolumeRegistration anywhere = align(registrar, moving, std::nullopt);
  const bool prefer_headers =
      near && near->reliable &&
      (!anywhere.reliable || anywhere.significance <= min_gain_over_headers * near->significance);
  return prefer_headers ? *near : anywhere;
}

VolumeRegistration register_pair(const Device& device, const VolumeRegistrationOptions& settings,
                                 const VolumeSide& reference, const VolumeSide& moving,
                                 const std::optional<Initial>& initial,
                                 const std::optional<Headers>& headers) {
  VolumeRegistrar registrar(device, settings);
  if (initial) {
    naming_initial(initial->file, [&] { registrar.set_initial(initial->transform); });
  }
  // The deformation takes an initial transform as it is, so a header must not be one.
  const bool start = headers && !initial && settings.motion != Motion::deformable;
  VolumeRegistration result;
  // The first pass includes the start-up of the device, so only the second one is timed.
  for (int pass = 0; pass < (settings.collect_timings ? 2 : 1); ++pass) {
    set_reference(registrar, reference);
    result = start ? align_by_both(registrar, moving, *headers) : align(registrar, moving, initial);
  }
  require_finite(result);
  return result;
}

/// Resamples a volume to the grid of another one.
Array resampled(const Device& device, const SplineModel& spline, const Array& volume,
                const std::vector<std::int64_t>& grid, PixelType type,
                const HomogeneousMatrix& grid_to_volume) {
  Array result = make_array(grid, type);
  ResamplePlan resample(device, {.spline = spline,
                                 .images = {.shape = volume.shape(), .dimensions = 3},
                                 .output = result.shape(),
                                 .input = volume.type,
                                 .output_type = type});
  Stream stream = device.make_stream();
  Image input = device.make_image(volume.type, volume.shape());
  Image output = device.make_image(type, result.shape());
  stream.upload(volume.bytes.data(), volume.bytes.size(), input.buffer());
  resample.execute(stream, input, grid_to_volume, output);
  stream.download(output, result.bytes.data(), result.bytes.size());
  return result;
}

/// Resamples the moving volume to the reference's grid with its cubic spline; 0 outside. Missing
/// voxels stay missing.
Array aligned_volume(const Device& device, const Array& moving, const Array& reference,
                     const HomogeneousMatrix& reference_to_moving, std::optional<double> nodata) {
  constexpr SplineModel spline{.boundary = Boundary::constant};
  const auto to_grid = [&](const SplineModel& by, PixelType type) {
    return [&device, by, type, &reference, &reference_to_moving](const Array& volume) {
      return resampled(device, by, volume, reference.extents, type, reference_to_moving);
    };
  };
  return resample_known(moving, nodata, spline.boundary, to_grid(spline, moving.type),
                        to_grid(mask_spline(spline), PixelType::f32));
}

/// Converts displacements to those that end at stored indices of the moving volume.
void map_field(const VolumeSide& moving, Array& field) {
  if (moving.order.is_identity()) return;
  const Shape shape{field.extents[3], field.extents[2], field.extents[1]};
  const auto voxels = static_cast<std::size_t>(shape.pixels());
  const auto values = field.samples<float>();
  const auto& m = moving.stored_indices.m;
  std::size_t i = 0;
  for (std::int64_t z = 0; z < shape.depth; ++z) {
    for (std::int64_t y = 0; y < shape.height; ++y) {
      for (std::int64_t x = 0; x < shape.width; ++x, ++i) {
        const std::array<double, 3> at{static_cast<double>(x), static_cast<double>(y),
                                       static_cast<double>(z)};
        std::array<double, 3> moved{};
        for (std::size_t k = 0; k < 3; ++k) moved[k] = at[k] + values[k * voxels + i];
        for (std::size_t k = 0; k < 3; ++k) {
          const double* row = m.data() + 4 * k;
          const double stored = row[0] * moved[0] + row[1] * moved[1] + row[2] * moved[2] + row[3];
          values[k * voxels + i] = static_cast<float>(stored - at[k]);
        }
      }
    }
  }
}

/// Compares the result with the headers, and makes its matrix one of stored voxels.
void describe_headers(VolumeReport& report, const std::optional<Headers>& headers,
                      const VolumeSide& reference, const VolumeSide& moving,
                      const VolumeRegistrationOptions& settings) {
  for (const VolumeSide* side : {&reference, &moving}) {
    if (!side->file.note.empty()) report.notes.push_back(side->file.name + ": " + side->file.note);
  }
  HomogeneousMatrix& matrix = report.result.matrix;
  if (headers) {
    const HomogeneousMatrix& from = *reference.file.index_to_world;
    const HomogeneousMatrix& to = *moving.file.index_to_world;
    const Point3& s = settings.reference_spacing;
    report.headers = {.reference_axes = axis_codes(from),
                      .moving_axes = axis_codes(transform_files::product(
                          to, transform_files::inverse_of(moving.stored_indices))),
                      .reordered = !moving.order.is_identity(),
                      .world_matrix = world_transform(matrix, from, to),
                      .difference_mm = corner_distance(matrix, headers->transform, to,
                                                       reference.file.voxels.shape()),
                      .voxel_mm = std::max({s.x, s.y, s.z})};
  }
  matrix = transform_files::product(moving.stored_indices, matrix);
}

void refuse_with_deformable(const Options& options, Motion motion) {
  if (motion != Motion::deformable) {
    for (const auto& [option, name] :
         {std::pair{"--field", &options.field}, std::pair{"--jacobian", &options.jacobian},
          std::pair{"--agreement", &options.agreement}}) {
      if (*name) throw UsageError(fmt::format("{}: requires --motion deformable", option));
    }
    refuse_without_deformation(motion, options.grid_spacing, options.bending_weight);
    return;
  }
  if (options.no_refine) {
    throw UsageError("--no-refine: --motion deformable needs the refinement; omit one of them");
  }
}

/// Sets the marks of missing voxels to 0.
void exclude_missing(const Array& volume, double nodata, std::vector<std::uint8_t>& marks) {
  const std::vector<std::uint8_t> known =
      known_samples(HostVolume{volume.bytes.data(), volume.type, volume.shape()}, nodata).known;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (known[i] == 0) marks[i] = 0;
  }
}

/// The arrays of a deformation: opened before the registration, and filled after it.
class DeformationFiles {
 public:
  explicit DeformationFiles(const Options& options) {
    if (options.field) field_.emplace(*options.field);
    if (options.jacobian) jacobian_.emplace(*options.jacobian);
    if (options.agreement) agreement_.emplace(*options.agreement);
  }

  /// `aligned`, and the positions in the moving volume, are needed for the agreement.
  void write(const Options& options, const Array& reference, const VolumeSide& moving,
             const Array& aligned, const std::optional<Positions>& positions,
             const Deformation& deformation, std::vector<WrittenFile>& written) {
    const auto& extents = reference.extents;
    const auto put = [&](std::optional<AtomicFile>& file, const char* what,
                         const std::optional<std::string>& name, const Array& values) {
      file->write(write_npy(values));
      written.push_back({what, *name, describe(values)});
    };
    if (field_) {
      Array field = displacements(extents, deformation.transform);
      map_field(moving, field);
      put(field_, "field", options.field, field);
    }
    if (jacobian_) put(jacobian_, "jacobian", options.jacobian, jacobians(extents, deformation));
    if (agreement_) {
      auto inside = positions->inside(moving.file.voxels.extents);
      if (options.nodata) {
        exclude_missing(reference, *options.nodata, inside);
        exclude_missing(aligned, *options.nodata, inside);
      }
      put(agreement_, "agreement", options.agreement, agreement(reference, aligned, inside));
    }
    for (auto* file : {&field_, &jacobian_, &agreement_}) {
      if (*file) (*file)->commit();
    }
  }

 private:
  std::optional<AtomicFile> field_, jacobian_, agreement_;
};

ExitStatus run(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  check_names(options);
  std::optional<Initial> initial;
  const Motion motion = settings_of(options).motion;
  refuse_with_deformable(options, motion);
  if (options.initial) {
    initial = {*options.initial, load_initial_volume_transform(*options.initial, motion)};
  }
  const Config config = config_of(options.device.config);
  Activity activity("reading the volumes");
  const VolumeNumbers numbers =
      volume_numbers_of(options.volume, options.reference, options.moving);
  VolumeSide reference_side =
      load_side(options.reference, options.reference_mask, numbers.reference, options.nodata);
  VolumeSide moving_side =
      load_side(options.moving, options.moving_mask, numbers.moving, options.nodata);
  if (options.ignore_positions) {
    reference_side.file.index_to_world.reset();
    moving_side.file.index_to_world.reset();
  }
  const std::string described_moving = describe(moving_side.file.voxels);
  reorder_like(reference_side, moving_side);
  const HomogeneousMatrix from_stored = transform_files::inverse_of(moving_side.stored_indices);
  if (options.initial) {
    initial->transform = load_initial_volume_transform(*options.initial, motion, from_stored);
  }
  const VolumeFile& reference_file = reference_side.file;
  const Array& reference = reference_file.voxels;
  const Array& moving = moving_side.file.voxels;
  const VolumeRegistrationOptions settings = settings_of(options, reference_file, moving_side);
  const std::optional<Headers> headers = headers_of(settings, reference_side, moving_side);
  std::optional<AtomicFile> file;
  DeformationFiles deformation_files(options);
  if (options.output) {
    check_volume_storable(*options.output, reference.extents, moving.type);
    file.emplace(*options.output);
  }

  activity.next("opening the device");
  const Device device = open_for_one_job(options.device, config);
  activity.next("registering");
  VolumeReport report;
  report.result = register_pair(device, settings, reference_side, moving_side, initial, headers);
  const auto& deformation = report.result.deformation;
  Array aligned;
  std::optional<Positions> positions;
  if (file || (options.agreement && deformation)) {
    activity.next("resampling and writing");
    if (deformation) {
      positions.emplace(reference.extents, deformation->transform);
      aligned =
          PositionSampler(device, reference.extents).sample(moving, *positions, options.nodata);
    } else {
      aligned = aligned_volume(device, moving, reference, report.result.matrix, options.nodata);
    }
  }
  if (file) {
    const Point3& spacing = settings.reference_spacing;
    file->write(
        encode_volume(*options.output, aligned, reference_file, {spacing.x, spacing.y, spacing.z}));
    file->commit();
    report.files.push_back({"aligned", *options.output, describe(aligned)});
  }
  if (deformation) {
    deformation_files.write(options, reference, moving_side, aligned, positions, *deformation,
                            report.files);
  }
  report.result.missing.reference += reference_side.missing;
  report.result.missing.moving += moving_side.missing;
  report.reference = fmt::format("{} ({})", options.reference, describe(reference));
  report.moving = fmt::format("{} ({})", options.moving, described_moving);
  describe_headers(report, headers, reference_side, moving_side, settings);
  report.device = device.info();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (options.json) {
    fmt::print("{}", json_text(report));
  } else {
    program::report(human_text(report));
  }
  return report.result.reliable ? ExitStatus::ok : ExitStatus::unreliable;
}

constexpr const char* footer =
    "REFERENCE and MOVING: NIfTI files (.nii, .nii.gz) or .npy arrays of three dimensions (depth,\n"
    "height, width), each 8 to 16384 voxels, of integers of 8 to 32 bits or floating-point "
    "numbers.\n"
    "They may differ in size and type. NIfTI files give the size of voxels, and --output .nii "
    "keeps\n"
    "the reference's position in the scanner. For .npy, give --spacing if voxels are not cubes.\n"
    "\n"
    "If both files are NIfTI and have positions (the sform if its code is above 0, else the "
    "qform),\n"
    "axes that are mirrored or permuted are brought to the reference's order, and the search also\n"
    "starts where the positions put the volumes. The report says whether the picture agrees.\n"
    "\n"
    "A mask has the shape of its volume. The search ignores voxels where it is 0, and everything\n"
    "computed from them: smoothed values up to one voxel away, and edges up to two voxels away.\n"
    "--output still shows the whole moving volume. Voxels that are NaN, infinite or equal to\n"
    "--nodata are ignored likewise, and are missing in --output, too.\n"
    "\n"
    "The matrix maps reference voxels (x, y, z) to moving voxels. The translation is that of the\n"
    "reference's centre, in voxels. Rotations are rigid in millimetres.\n"
    "\n"
    "--initial names the JSON of a registration (its matrix), or a CSV file with a line\n"
    "x,y,z,x',y',z' for each pair of points, in voxels of the reference and of the moving volume;\n"
    "or it is `identity`: a voxel shows the same as that with its indices. If a fit that starts\n"
    "there is reliable, that is the answer.\n"
    "\n"
    "A translation may exceed half a side, as long as the volumes overlap by 4 % of the smaller\n"
    "one. The other motions allow shifts of up to about half the largest side; similarity and\n"
    "affine also scales of about 0.8 to 1.25.\n"
    "\n"
    "Exit status: 0 registered; 1 no reliable registration; 2 wrong usage or input; 3 device\n"
    "trouble.\n"
    "\n"
    "Examples:\n"
    "  warpalign register-volume fixed.npy moved.npy\n"
    "  warpalign register-volume head.nii.gz later.nii.gz --motion rigid --output aligned.nii.gz\n"
    "  warpalign register-volume a.nii.gz b.nii.gz --motion deformable --output b-on-a.nii.gz\n"
    "  warpalign register-volume t1.nii.gz t2.nii.gz --motion rigid --modality other\n"
    "  warpalign register-volume fixed.npy moved.npy --reference-mask fixed-mask.npy\n"
    "  warpalign register-volume fixed.npy moved.npy --motion rigid --spacing 3,1,1 --json\n"
    "  warpalign register-volume fixed.npy moved.npy --max-shift 20,20,5 --device cuda:0\n";

}  // namespace

void add_register_volume_command(CLI::App& program, Action& chosen) {
  CLI::App& command = add_command(program, "register-volume",
                                  "Find the transform between two volumes", "Registration");
  auto options = std::make_shared<Options>();
  add_option(command, "REFERENCE", &options->reference, "The volume that stays fixed", required);
  add_option(command, "MOVING", &options->moving, "The volume to align with it", required);
  begin_group(command, "Results");
  add_json_option(command, options->json);
  add_option(command, "--output FILE", &options->output,
             "Write the moving volume, resampled to the reference (.npy, .nii, .nii.gz)");
  begin_group(command, "Masks");
  add_option(command, "--nodata VALUE", &options->nodata,
             "Value of missing voxels, which are ignored, as NaN and infinities always are");
  add_option(command, "--reference-mask FILE", &options->reference_mask,
             "Mask of the reference: a volume that is 0 where voxels are ignored");
  add_option(command, "--moving-mask FILE", &options->moving_mask,
             "Mask of the moving volume: 0 where voxels are ignored");
  begin_group(command, "Search");
  add_option(command, "--motion NAME", &options->motion,
             "Transform model: translation, rigid, similarity, affine, or deformable (an affine "
             "transform, then a smooth deformation) [translation]",
             suggesting("translation rigid similarity affine deformable"));
  add_option(command, "--field FILE", &options->field,
             "Write the displacement at every voxel (.npy, of shape (3, depth, height, width))");
  add_option(
      command, "--modality NAME", &options->modality,
      "same: the volumes have the same contrast; other: the contrast is reversed or unrelated (MRI "
      "weightings, CT and MRI), so edges are compared; or auto [same]",
      suggesting("same other auto"));
  add_option(command, "--max-rotation DEGREES", &options->max_rotation,
             "Largest rotation about any axis, above 0 to 180 [180]");
  add_option(command, "--max-shift N", &options->max_shift,
             "N or X,Y,Z: largest translation along each axis, in voxels [any]");
  add_option(command, "--initial FILE", &options->initial,
             "Look near this transform first: a registration's JSON, point pairs (CSV), or "
             "identity");
  add_option(command, "--spacing Z,Y,X", &options->spacing,
             "Distances between voxels along the axes of both volumes, in millimetres [from NIfTI, "
             "else 1]");
  add_option(command, "--moving-spacing Z,Y,X", &options->moving_spacing,
             "Distances between voxels of MOVING, if they differ");
  add_option(command, "--volume N", &options->volume,
             "Which volume of a series, from 0: N, or N,M for REFERENCE and MOVING");
  add_option(command, "--ignore-positions", &options->ignore_positions,
             "Take only the voxel sizes from NIfTI headers, not where they place the volumes");
  add_option(command, "--no-refine", &options->no_refine,
             "Stop before the refinement: at whole voxels or, with rotation, at 64 voxels a side");
  begin_group(command, "Deformation");
  add_option(command, "--grid-spacing MM", &options->grid_spacing,
             "Distance between control points, in millimetres [5 voxels along the axis with the "
             "smallest, or 2 where that follows too little]");
  add_option(command, "--bending-weight WEIGHT", &options->bending_weight,
             fmt::format("Weight of the bending energy; larger weights make the field smoother "
                         "[{}]",
                         VolumeRegistrationOptions{}.bending_weight));
  add_option(command, "--jacobian FILE", &options->jacobian,
             "Write by which factor the deformation changes volumes, at every voxel (.npy)");
  add_option(command, "--agreement FILE", &options->agreement,
             "Write how well the two agree at every voxel (.npy)");
  add_timings_option(command, options->timings);
  add_processing_options(command, options->device);
  set_footer(command, footer);
  set_action(command, chosen, [options] { return run(*options); });
}

}  // namespace warpalign::program
