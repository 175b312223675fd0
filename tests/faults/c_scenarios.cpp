// Every function of the C interface that uses a device.
#include "faults/bench.hpp"
#include "faults/scenarios.hpp"
#include "support/blobs.hpp"
#include "support/rotated_volumes.hpp"
#include "support/volume_pairs.hpp"

#include <warpalign/warpalign.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace faults {

namespace {

using namespace warpalign;

constexpr std::int64_t width = 64;
constexpr std::int64_t height = 48;

/// The ErrorKind of a status. Other statuses do not come from a device's failure.
ErrorKind kind_of(warpalign_status status) {
  switch (status) {
    case WARPALIGN_OUT_OF_MEMORY:
      return ErrorKind::out_of_memory;
    case WARPALIGN_BUILD_FAILED:
      return ErrorKind::build_failed;
    case WARPALIGN_DEVICE_FAILURE:
      return ErrorKind::device_failure;
    case WARPALIGN_DEVICE_UNAVAILABLE:
      return ErrorKind::device_unavailable;
    default:
      throw std::runtime_error(std::string(warpalign_status_name(status)) + ": " +
                               warpalign_last_error());
  }
}

void require(warpalign_status status) {
  if (status == WARPALIGN_OK) return;
  const ErrorKind kind = kind_of(status);
  const std::string text = warpalign_last_error();
  if (text.empty()) throw std::runtime_error("a status without words");
  throw Error(kind, text, {.stage = "C", .backend = "opencl"});
}

/// Opens the device once, so that kernels and plans are created once.
warpalign_device opened(const Device& like) {
  static std::map<std::string, warpalign_device> devices;
  warpalign_device& device = devices[like.info().id];
  if (device.id == 0) require(warpalign_open_device(like.info().id.c_str(), &device));
  return device;
}

const test::BlobImage& blobs() {
  static const test::BlobImage drawn = test::draw_blobs({width, height, 1}, {});
  return drawn;
}

warpalign_image view() { return {blobs().pixels.data(), WARPALIGN_U8, width, height, 1, 0}; }

template <class Struct>
Bytes bytes_of(const Struct& found) {
  Bytes bytes;
  append(bytes, found);
  return bytes;
}

Bytes register_a_pair(warpalign_device device) {
  const warpalign_image image = view();
  warpalign_registration found{};
  found.struct_size = sizeof found;
  require(warpalign_register(device, &image, &image, nullptr, &found));
  return bytes_of(found);
}

Bytes use_a_registrar(warpalign_device device) {
  const warpalign_image image = view();
  warpalign_registrar registrar{};
  require(warpalign_make_registrar(device, nullptr, &registrar));
  const std::shared_ptr<void> ends(nullptr, [=](void*) { warpalign_destroy_registrar(registrar); });
  require(warpalign_set_reference(registrar, &image, nullptr));
  warpalign_registration found{};
  found.struct_size = sizeof found;
  require(warpalign_align(registrar, &image, nullptr, &found));
  return bytes_of(found);
}

Bytes resample(warpalign_device device) {
  const warpalign_image image = view();
  constexpr std::array<double, 6> matrix{0.97, -0.1, 3, 0.12, 0.96, 2};
  std::array<double, 16> transform{};
  require(warpalign_transform_from_affine(matrix.data(), transform.data()));
  Bytes pixels(static_cast<std::size_t>(width * height));
  const warpalign_output output{pixels.data(), WARPALIGN_U8, width, height, 1};
  require(warpalign_resample(device, &image, transform.data(), nullptr, &output));
  return pixels;
}

Bytes prefilter(warpalign_device device) {
  const warpalign_image image = view();
  Bytes coefficients(static_cast<std::size_t>(width * height) * sizeof(float));
  const warpalign_output output{coefficients.data(), WARPALIGN_F32, width, height, 1};
  require(warpalign_prefilter(device, &image, nullptr, &output));
  return coefficients;
}

constexpr Shape frame{96, 80, 1};

const test::BlobImage& fixed_blobs() {
  static const test::BlobImage drawn = test::draw_blobs(frame, {});
  return drawn;
}

const test::BlobImage& moved_blobs() {
  static const test::BlobImage drawn =
      test::draw_blobs(frame, Similarity{6, 1.05, {3, -2}}.matrix(frame, frame));
  return drawn;
}

warpalign_image view_of(const test::BlobImage& image) {
  return {image.pixels.data(), WARPALIGN_U8, frame.width, frame.height, 1, 0};
}

/// A registrar with WARPALIGN_DEFORMABLE, destroyed with the last copy.
using RegistrarHandle = std::shared_ptr<const warpalign_registrar>;
using DeformationHandle = std::shared_ptr<const warpalign_deformation>;

RegistrarHandle deformable_registrar(warpalign_device device) {
  warpalign_register_options options{};
  require(warpalign_default_register_options(&options, sizeof options));
  options.motion = WARPALIGN_DEFORMABLE;
  warpalign_registrar registrar{};
  require(warpalign_make_registrar(device, &options, &registrar));
  return {new warpalign_registrar(registrar), [](const warpalign_registrar* made) {
            warpalign_destroy_registrar(*made);
            delete made;
          }};
}

/// Sets the reference and aligns. Appends the result to `bytes`.
DeformationHandle deform(warpalign_registrar registrar, Bytes& bytes) {
  const warpalign_image fixed = view_of(fixed_blobs());
  const warpalign_image moving = view_of(moved_blobs());
  require(warpalign_set_reference(registrar, &fixed, nullptr));
  warpalign_registration found{};
  found.struct_size = sizeof found;
  warpalign_deformation deformation{7};  // no handle
  const warpalign_status status =
      warpalign_align_deformable(registrar, &moving, nullptr, &found, &deformation);
  if (status != WARPALIGN_OK && deformation.id != 0) {
    throw std::runtime_error("an alignment that failed returns a deformation");
  }
  require(status);
  if (deformation.id == 0) throw std::runtime_error("the pair is not reliable");
  append(bytes, found);
  return {new warpalign_deformation(deformation), [](const warpalign_deformation* made) {
            warpalign_destroy_deformation(*made);
            delete made;
          }};
}

/// Everything that a deformation is for. Appends the results to `bytes`.
void use_deformation(warpalign_device device, warpalign_deformation deformation, Bytes& bytes) {
  warpalign_deformation_info info{};
  info.struct_size = sizeof info;
  require(warpalign_describe_deformation(deformation, &info));
  append(bytes, info);

  const std::array<double, 4> points{20, 30, 64.5, 50.25};
  std::array<double, 4> mapped{};
  require(warpalign_map_points(deformation, points.data(), 2, mapped.data()));
  append(bytes, mapped);

  const auto pixels = static_cast<std::size_t>(frame.pixels());
  const auto append_pixels = [&](const std::vector<float>& values) {
    const auto* first = reinterpret_cast<const std::byte*>(values.data());
    bytes.insert(bytes.end(), first, first + values.size() * sizeof(float));
  };
  std::vector<float> displacements(2 * pixels);
  const warpalign_output field{displacements.data(), WARPALIGN_F32, frame.width, frame.height, 2};
  require(warpalign_deformation_field(deformation, &field));
  append_pixels(displacements);

  std::vector<float> straight(pixels);
  const warpalign_image moving = view_of(moved_blobs());
  const warpalign_output warped{straight.data(), WARPALIGN_F32, frame.width, frame.height, 1};
  require(warpalign_warp_deformed(device, deformation, &moving, nullptr, &warped));
  append_pixels(straight);

  const warpalign_image seen{straight.data(), WARPALIGN_F32, frame.width, frame.height, 1, 0};
  std::vector<float> agreement(pixels);
  const warpalign_output map{agreement.data(), WARPALIGN_F32, frame.width, frame.height, 1};
  require(warpalign_local_agreement(&seen, &seen, nullptr, &map));
  append_pixels(agreement);

  warpalign_transform transform{};
  require(warpalign_transform_of_deformation(deformation, &transform));
  require(warpalign_destroy_transform(transform));
}

/// The registrar outlives the failures, and each alignment has a deformation of its own.
Scenario deformable_registration() {
  return {"in C: deformable registrar", [](const Device& device) -> Work {
            const warpalign_device same = opened(device);
            const RegistrarHandle registrar = deformable_registrar(same);
            return [same, registrar] {
              Bytes bytes;
              const DeformationHandle deformation = deform(*registrar, bytes);
              use_deformation(same, *deformation, bytes);
              return bytes;
            };
          }};
}

/// The deformation outlives the failures, and the registrar that has found it.
Scenario deformation() {
  return {"in C: deformation", [](const Device& device) -> Work {
            const warpalign_device same = opened(device);
            Bytes unused;
            const DeformationHandle found = deform(*deformable_registrar(same), unused);
            return [same, found] {
              Bytes bytes;
              use_deformation(same, *found, bytes);
              return bytes;
            };
          }};
}

/// Slightly rotated volumes.
struct VolumePair {
  VolumePair() {
    spec.reference = spec.moving = {20, 18, 16};
    spec.transform = test::turn({1, 2, 3}, 6, {0.5, -0.25, 1});
    drawn = test::draw_rotated_pair(spec);
  }
  test::RotatedPairSpec spec;
  test::HostPairOfVolumes drawn;
};

const VolumePair& volumes() {
  static const VolumePair pair;
  return pair;
}

warpalign_image view_of(const std::vector<float>& voxels) {
  const Shape& shape = volumes().spec.reference;
  return {voxels.data(), WARPALIGN_F32, shape.width, shape.height, shape.depth, 0};
}

/// Where the transform leads a point. Destroys the transform.
std::array<double, 3> lead_by(warpalign_transform transform) {
  std::array<double, 3> point{10.5, 8.25, 6};
  require(
      warpalign_transform_points(transform, point.data(), 1, WARPALIGN_OUTSIDE_EDGE, point.data()));
  require(warpalign_destroy_transform(transform));
  return point;
}

warpalign_volume_options volume_options(warpalign_motion motion) {
  warpalign_volume_options options{};
  require(warpalign_default_volume_options(&options, sizeof options));
  options.motion = motion;
  options.max_rotation = 15;  // a failure at every point of a wider search would take minutes
  return options;
}

/// Throws for an alignment that failed and gives a transform.
void require_with_transform(warpalign_status status, warpalign_transform transform) {
  if (status != WARPALIGN_OK && transform.id != 0) {
    throw std::runtime_error("an alignment that failed returns a transform");
  }
  require(status);
  if (transform.id == 0) throw std::runtime_error("the pair is not reliable");
}

Bytes register_volumes(warpalign_device device) {
  const warpalign_image reference = view_of(volumes().drawn.reference);
  const warpalign_image moving = view_of(volumes().drawn.moving);
  const warpalign_volume_options options = volume_options(WARPALIGN_RIGID);
  warpalign_volume_registration found{};
  found.struct_size = sizeof found;
  warpalign_transform transform{7};  // no handle
  const warpalign_status status =
      warpalign_register_volumes(device, &reference, &moving, &options, &found, &transform);
  require_with_transform(status, transform);
  Bytes bytes;
  append(bytes, found, lead_by(transform));
  return bytes;
}

/// The registrar outlives the failures.
Scenario deformable_volumes() {
  return {"in C: deformable volumes", [](const Device& device) -> Work {
            const warpalign_volume_options options = volume_options(WARPALIGN_DEFORMABLE);
            warpalign_volume_registrar made{};
            require(warpalign_make_volume_registrar(opened(device), &options, &made));
            const std::shared_ptr<void> ends(
                nullptr, [=](void*) { warpalign_destroy_volume_registrar(made); });
            return [made, ends] {
              const warpalign_image reference = view_of(volumes().drawn.reference);
              const warpalign_image moving = view_of(volumes().drawn.moving);
              require(warpalign_set_reference_volume(made, &reference, nullptr));
              warpalign_volume_registration found{};
              found.struct_size = sizeof found;
              warpalign_transform transform{7};  // no handle
              const warpalign_status status =
                  warpalign_align_volume(made, &moving, nullptr, &found, &transform);
              require_with_transform(status, transform);
              Bytes bytes;
              append(bytes, found, lead_by(transform));
              return bytes;
            };
          }};
}

/// The mean of two volumes, of which one has a mask.
Bytes build_template(warpalign_device device) {
  const std::array volumes_of{view_of(volumes().drawn.reference), view_of(volumes().drawn.moving)};
  std::vector<std::uint8_t> mask(volumes().drawn.moving.size(), 1);
  std::fill_n(mask.begin() + 3000, 20, std::uint8_t{0});
  std::array<warpalign_image, 2> masks{};
  masks[1] = volumes_of[1];
  masks[1].data = mask.data();
  masks[1].type = WARPALIGN_U8;
  const warpalign_volume_options options = volume_options(WARPALIGN_RIGID);
  warpalign_template_options once{};
  require(warpalign_default_template_options(&once, sizeof once));
  once.rounds = 1;
  const Shape& shape = volumes().spec.reference;
  std::vector<float> mean(volumes().drawn.reference.size());
  std::array<warpalign_transform, 2> transforms{{{7}, {7}}};  // no handles
  warpalign_template found{};
  found.struct_size = sizeof found;
  found.pixels = {mean.data(), WARPALIGN_F32, shape.width, shape.height, shape.depth};
  found.transforms = transforms.data();
  const warpalign_status status = warpalign_build_volume_template(
      device, volumes_of.data(), masks.data(), 2, nullptr, &options, &once, &found);
  Bytes bytes;
  for (const warpalign_transform transform : transforms) {
    require_with_transform(status, transform);
    append(bytes, lead_by(transform));
  }
  append(bytes, mean[1234]);
  return bytes;
}

Scenario scenario(const std::string& name, Bytes (*use)(warpalign_device)) {
  return {"in C: " + name, [use](const Device& device) -> Work {
            const warpalign_device same = opened(device);
            return [use, same] { return use(same); };
          }};
}

}  // namespace

std::vector<Scenario> c_scenarios() {
  return {scenario("register", &register_a_pair),
          scenario("registrar", &use_a_registrar),
          scenario("resample", &resample),
          scenario("prefilter", &prefilter),
          scenario("register volumes", &register_volumes),
          scenario("template", &build_template),
          deformable_registration(),
          deformable_volumes(),
          deformation()};
}

}  // namespace faults
