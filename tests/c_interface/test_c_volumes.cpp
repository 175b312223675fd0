// Registration of volumes by the C interface: drawn volumes with known motion and deformation, and
// wrong calls.
#include "c_interface/c_calls.hpp"
#include "registration/deformation/drawn_fields.hpp"
#include "support/devices.hpp"
#include "support/rotated_volumes.hpp"
#include "support/volume_masks.hpp"
#include "support/volume_pairs.hpp"

#include <warpalign/volume_registrar.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using test::Opened;
using warpalign::Shape;

warpalign_image volume_of(const std::vector<float>& voxels, const Shape& shape) {
  return {voxels.data(), WARPALIGN_F32, shape.width, shape.height, shape.depth, 0};
}
warpalign_image volume_of(const test::VolumeMask& mask, const Shape& shape) {
  return {mask.data(), WARPALIGN_U8, shape.width, shape.height, shape.depth, 0};
}

warpalign_volume_registration empty_volume_result() {
  warpalign_volume_registration result{};
  result.struct_size = sizeof result;
  return result;
}

warpalign_volume_options volume_options(warpalign_motion motion) {
  warpalign_volume_options options{};
  REQUIRE(warpalign_default_volume_options(&options, sizeof options) == WARPALIGN_OK);
  options.motion = motion;
  return options;
}

/// Rotated by 14 degrees and shifted, with voxels that are longer along z.
test::RotatedPairSpec rotated_spec() {
  test::RotatedPairSpec spec;
  spec.reference = {36, 32, 20};
  spec.moving = {34, 36, 22};
  spec.reference_spacing = spec.moving_spacing = {1, 1, 1.5};
  spec.transform = test::turn({1, -2, 3}, 14, {1.5, -2, 0.75});
  return spec;
}

warpalign_volume_options rigid_options(const test::RotatedPairSpec& spec) {
  warpalign_volume_options options = volume_options(WARPALIGN_RIGID);
  options.max_rotation = 30;
  options.reference_spacing[2] = spec.reference_spacing.z;
  options.moving_spacing[2] = spec.moving_spacing.z;
  return options;
}

std::array<double, 16> matrix_of(const warpalign_volume_registration& result) {
  std::array<double, 16> matrix{};
  std::copy(std::begin(result.matrix), std::end(result.matrix), matrix.begin());
  return matrix;
}

/// The root mean square difference of two volumes, `margin` voxels away from the edges.
double rms_difference(const std::vector<float>& a, const std::vector<float>& b, const Shape& shape,
                      std::int64_t margin) {
  double sum = 0;
  double count = 0;
  for (std::int64_t z = margin; z < shape.depth - margin; ++z) {
    for (std::int64_t y = margin; y < shape.height - margin; ++y) {
      for (std::int64_t x = margin; x < shape.width - margin; ++x, ++count) {
        const auto i = static_cast<std::size_t>((z * shape.height + y) * shape.width + x);
        sum += std::pow(static_cast<double>(a[i] - b[i]), 2);
      }
    }
  }
  return std::sqrt(sum / count);
}

/// The moving volume on the reference's grid.
std::vector<float> warped_by(warpalign_device device, warpalign_transform transform,
                             const warpalign_image& moving, const Shape& reference) {
  std::vector<float> warped(static_cast<std::size_t>(reference.pixels()));
  const warpalign_output output{warped.data(), WARPALIGN_F32, reference.width, reference.height,
                                reference.depth};
  REQUIRE(warpalign_warp(device, transform, &moving, nullptr, &output) == WARPALIGN_OK);
  return warped;
}

/// A bent pair of volumes with voxels that are longer along y.
struct BentVolumes {
  Shape shape{44, 36, 40};
  test::DrawnField field{3, 2.5, 5};
  test::DrawnPair pair = test::drawn_pair(shape, field, 0, 9);
  warpalign_image reference = volume_of(pair.reference, shape);
  warpalign_image moving = volume_of(pair.moving, shape);
};

}  // namespace

TEST_CASE("c: rigid volumes have the drawn motion, in voxels of any size") {
  test::on_every_device([](const warpalign::Device& device) {
    const Opened opened(device);
    const test::RotatedPairSpec spec = rotated_spec();
    const test::HostPairOfVolumes drawn = test::draw_rotated_pair(spec);
    const warpalign_image reference = volume_of(drawn.reference, spec.reference);
    const warpalign_image moving = volume_of(drawn.moving, spec.moving);
    const warpalign_volume_options options = rigid_options(spec);
    warpalign_volume_registration result = empty_volume_result();
    warpalign_transform transform{};
    REQUIRE(warpalign_register_volumes(opened, &reference, &moving, &options, &result,
                                       &transform) == WARPALIGN_OK);
    CHECK(test::last_error().empty());
    REQUIRE(result.reliable == 1);
    CHECK(result.refined == 1);
    CHECK(result.motion == WARPALIGN_RIGID);
    CHECK(result.modality == WARPALIGN_MODALITY_SAME);
    CHECK(result.deformed == 0);
    CHECK(result.max_jacobian == 0);
    // The tests of VolumeRegistrar reach 0.05 voxels with such pairs.
    CHECK(test::corner_error(spec, matrix_of(result)) < 0.1);
    CHECK(result.rotation_deg == doctest::Approx(14).epsilon(0.01));
    const double length = std::sqrt(14.0);  // of the axis (1, -2, 3)
    CHECK(std::abs(result.rotation_axis[0] - 1 / length) < 0.02);
    CHECK(std::abs(result.rotation_axis[1] + 2 / length) < 0.02);
    CHECK(std::abs(result.rotation_axis[2] - 3 / length) < 0.02);
    CHECK(result.scale == doctest::Approx(1));
    // The moving volume's centre is one voxel deeper, and the shift is in millimetres.
    CHECK(std::abs(result.translation[2] - (1 + 0.75 / 1.5)) < 0.1);

    warpalign::VolumeRegistrationOptions same;
    same.motion = warpalign::Motion::rigid;
    same.max_rotation = 30;
    same.reference_spacing = same.moving_spacing = {1, 1, 1.5};
    const auto expected =
        warpalign::register_volumes(device, test::view_of(drawn.reference, spec.reference),
                                    test::view_of(drawn.moving, spec.moving), same);
    CHECK(result.matrix[3] == expected.matrix.m[3]);
    CHECK(result.confidence == expected.confidence);
    CHECK(result.overlap == expected.overlap);

    // The transform is that of the matrix, and the other functions take it.
    warpalign_transform_info info{};
    info.struct_size = sizeof info;
    REQUIRE(warpalign_describe_transform(transform, &info) == WARPALIGN_OK);
    CHECK(info.dimensions == 3);
    CHECK(info.has_matrix == 1);
    CHECK(std::equal(std::begin(info.matrix), std::end(info.matrix), std::begin(result.matrix)));
    warpalign_transform inverse{};
    REQUIRE(warpalign_invert_transform(transform, &inverse) == WARPALIGN_OK);
    std::array<double, 3> point{12, 20, 9};
    for (const warpalign_transform one : {transform, inverse}) {
      REQUIRE(warpalign_transform_points(one, point.data(), 1, WARPALIGN_OUTSIDE_EDGE,
                                         point.data()) == WARPALIGN_OK);
    }
    CHECK(point[0] == doctest::Approx(12));
    CHECK(point[2] == doctest::Approx(9));
    const auto warped = warped_by(opened, transform, moving, spec.reference);
    // Volumes of deviation 0.3 or so, interpolated once.
    CHECK(rms_difference(warped, drawn.reference, spec.reference, 6) < 0.02);
    CHECK(warpalign_destroy_transform(inverse) == WARPALIGN_OK);
    CHECK(warpalign_destroy_transform(transform) == WARPALIGN_OK);
  });
}

TEST_CASE("c: translations are the default, and a transform need not be wanted") {
  const warpalign::Device& device = test::devices().front();
  const Opened opened(device);
  test::VolumePairSpec spec;
  spec.shift = {3.25, -2, 1.5};
  const test::HostPairOfVolumes drawn = test::draw_pair(spec);
  const warpalign_image reference = volume_of(drawn.reference, spec.reference);
  const warpalign_image moving = volume_of(drawn.moving, spec.moving);
  warpalign_volume_registration result = empty_volume_result();
  REQUIRE(warpalign_register_volumes(opened, &reference, &moving, nullptr, &result, nullptr) ==
          WARPALIGN_OK);
  CHECK(result.reliable == 1);
  CHECK(result.motion == WARPALIGN_TRANSLATION);
  CHECK(std::abs(result.translation[0] - 3.25) < 0.05);
  CHECK(std::abs(result.translation[1] + 2) < 0.05);
  CHECK(std::abs(result.matrix[11] - 1.5) < 0.05);
  CHECK(result.rotation_deg == 0);

  // A limit that excludes the shift.
  warpalign_volume_options near = volume_options(WARPALIGN_TRANSLATION);
  near.max_shift[0] = 1;
  warpalign_transform transform{7};
  REQUIRE(warpalign_register_volumes(opened, &reference, &moving, &near, &result, &transform) ==
          WARPALIGN_OK);
  CHECK(result.reliable == 0);
  CHECK(transform.id == 0);
  CHECK(std::abs(result.translation[0]) <= 1.5);  // whole voxels are refined by half of one
}

TEST_CASE("c: bent volumes have the drawn field") {
  test::on_every_device([](const warpalign::Device& device) {
    const Opened opened(device);
    const BentVolumes bent;
    warpalign_volume_options options = volume_options(WARPALIGN_DEFORMABLE);
    options.max_rotation = 10;
    options.grid_spacing = 6;
    options.bending_weight = 0.2;
    warpalign_volume_registration result = empty_volume_result();
    warpalign_transform transform{};
    REQUIRE(warpalign_register_volumes(opened, &bent.reference, &bent.moving, &options, &result,
                                       &transform) == WARPALIGN_OK);
    REQUIRE(result.reliable == 1);
    REQUIRE(result.deformed == 1);
    REQUIRE(transform.id != 0);
    CHECK(result.motion == WARPALIGN_AFFINE);
    CHECK(result.window_correlation > result.window_correlation_before);
    CHECK(result.window_correlation > 0.95);
    CHECK(result.min_jacobian > 0);
    CHECK(result.max_jacobian > 1);
    CHECK(result.extreme_jacobians == 0);

    warpalign_transform_info info{};
    info.struct_size = sizeof info;
    REQUIRE(warpalign_describe_transform(transform, &info) == WARPALIGN_OK);
    CHECK(info.kind == WARPALIGN_KIND_CHAIN);
    CHECK(info.has_matrix == 0);

    // The displacements of all voxels, in the order x, y, z.
    warpalign_point_grid grid{};
    REQUIRE(warpalign_pixel_grid(44, 36, 40, &grid, sizeof grid) == WARPALIGN_OK);
    const auto voxels = static_cast<std::size_t>(bent.shape.pixels());
    std::vector<float> field(3 * voxels);
    REQUIRE(warpalign_transform_field(transform, &grid, WARPALIGN_OUTSIDE_EDGE, WARPALIGN_F32,
                                      field.data()) == WARPALIGN_OK);
    double error = 0;
    double before = 0;
    double count = 0;
    for (std::int64_t z = 8; z < 32; ++z) {
      for (std::int64_t y = 8; y < 28; ++y) {
        for (std::int64_t x = 8; x < 36; ++x, ++count) {
          const auto i = static_cast<std::size_t>((z * 36 + y) * 44 + x);
          const test::Coordinates3 true_u =
              bent.field({static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)});
          for (std::size_t a = 0; a < 3; ++a) {
            error += std::pow(static_cast<double>(field[a * voxels + i]) - true_u[a], 2);
            before += std::pow(true_u[a], 2);
          }
        }
      }
    }
    // docs/howto/deform.md: 0.02 voxels where there is structure, in larger volumes.
    CHECK(std::sqrt(before / count) > 0.5);
    CHECK(std::sqrt(error / count) < 0.08);

    std::vector<double> determinants(voxels);
    REQUIRE(warpalign_transform_jacobian(transform, &grid, determinants.data()) == WARPALIGN_OK);
    CHECK(*std::min_element(determinants.begin(), determinants.end()) > 0);
    const auto warped = warped_by(opened, transform, bent.moving, bent.shape);
    // Volumes of deviation 1, interpolated once; waves are 6 voxels and longer.
    CHECK(rms_difference(warped, bent.pair.reference, bent.shape, 8) < 0.1);
    CHECK(rms_difference(bent.pair.moving, bent.pair.reference, bent.shape, 8) > 0.3);

    warpalign_transform inverse{};
    REQUIRE(warpalign_invert_transform(transform, &inverse) == WARPALIGN_OK);
    std::array<double, 6> points{12, 20, 9, 30.5, 11.25, 25};
    for (const warpalign_transform one : {transform, inverse}) {
      REQUIRE(warpalign_transform_points(one, points.data(), 2, WARPALIGN_OUTSIDE_EDGE,
                                         points.data()) == WARPALIGN_OK);
    }
    CHECK(points[0] == doctest::Approx(12).epsilon(1e-4));
    CHECK(points[4] == doctest::Approx(11.25).epsilon(1e-4));
    CHECK(warpalign_destroy_transform(inverse) == WARPALIGN_OK);
    CHECK(warpalign_destroy_transform(transform) == WARPALIGN_OK);
  });
}

TEST_CASE("c: a registrar of volumes keeps its reference, its masks and its initial matrix") {
  const warpalign::Device& device = test::devices().front();
  warpalign_device opened{};
  REQUIRE(warpalign_open_device(device.info().id.c_str(), &opened) == WARPALIGN_OK);
  const test::RotatedPairSpec spec = rotated_spec();
  const test::HostPairOfVolumes drawn = test::draw_rotated_pair(spec);
  const test::VolumeMask first_mask = test::mask_of(spec.reference, {{20, 0, 0}, {36, 12, 8}});
  const test::VolumeMask second_mask = test::mask_of(spec.moving, {{0, 20, 10}, {10, 36, 22}});
  const auto first = test::garbage_under_mask(drawn.reference, first_mask, 3);
  const auto second = test::garbage_under_mask(drawn.moving, second_mask, 4);
  const warpalign_image reference = volume_of(first, spec.reference);
  const warpalign_image moving = volume_of(second, spec.moving);
  const warpalign_image reference_mask = volume_of(first_mask, spec.reference);
  const warpalign_image moving_mask = volume_of(second_mask, spec.moving);
  const warpalign_volume_options options = rigid_options(spec);
  warpalign_volume_registrar registrar{};
  REQUIRE(warpalign_make_volume_registrar(opened, &options, &registrar) == WARPALIGN_OK);
  CHECK(warpalign_close_device(opened) == WARPALIGN_OK);
  warpalign_volume_registration result = empty_volume_result();
  warpalign_transform transform{7};
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "set_reference",
                warpalign_align_volume(registrar, &moving, nullptr, &result, &transform));
  CHECK(transform.id == 0);
  REQUIRE(warpalign_set_reference_volume(registrar, &reference, &reference_mask) == WARPALIGN_OK);
  for (const bool is_initial : {false, true}) {
    CAPTURE(is_initial);
    const auto near = result;  // of the search without an initial matrix
    REQUIRE(warpalign_set_initial_matrix(registrar, is_initial ? near.matrix : nullptr) ==
            WARPALIGN_OK);
    REQUIRE(warpalign_align_volume(registrar, &moving, &moving_mask, &result, &transform) ==
            WARPALIGN_OK);
    REQUIRE(result.reliable == 1);
    CHECK(result.missing_reference == 0);  // masked voxels do not count as missing
    CHECK(test::corner_error(spec, matrix_of(result)) < 0.15);
    CHECK(warpalign_destroy_transform(transform) == WARPALIGN_OK);
  }
  // An initial matrix that the options exclude tells that it is used.
  const double half_turn[16] = {-1, 0, 0, 35, 0, -1, 0, 31, 0, 0, 1, 0, 0, 0, 0, 1};
  REQUIRE(warpalign_set_initial_matrix(registrar, half_turn) == WARPALIGN_OK);
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "max_rotation",
                warpalign_align_volume(registrar, &moving, &moving_mask, &result, &transform));
  CHECK(transform.id == 0);
  const double singular[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "singular",
                warpalign_set_initial_matrix(registrar, singular));
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "must be u8",
                warpalign_set_reference_volume(registrar, &reference, &moving));
  CHECK(warpalign_destroy_volume_registrar(registrar) == WARPALIGN_OK);
  CHECK_REFUSED(WARPALIGN_INVALID_HANDLE, "registrar of volumes",
                warpalign_align_volume(registrar, &moving, nullptr, &result, &transform));
  CHECK_REFUSED(WARPALIGN_INVALID_HANDLE, "registrar of volumes",
                warpalign_set_reference_volume(registrar, &reference, nullptr));
  CHECK_REFUSED(WARPALIGN_INVALID_HANDLE, "registrar of volumes",
                warpalign_set_initial_matrix(registrar, nullptr));
  CHECK_REFUSED(WARPALIGN_INVALID_HANDLE, "registrar of volumes",
                warpalign_destroy_volume_registrar(registrar));
}

TEST_CASE("c: volumes of other contrast, and volumes that do not belong together") {
  const warpalign::Device& device = test::devices().front();
  const Opened opened(device);
  test::VolumePairSpec spec;
  spec.shift = {2, -1, 3};
  test::HostPairOfVolumes drawn = test::draw_pair(spec);
  for (float& voxel : drawn.moving) voxel = 1 - std::abs(voxel - 0.5F);  // neither more nor less
  const warpalign_image reference = volume_of(drawn.reference, spec.reference);
  const warpalign_image moving = volume_of(drawn.moving, spec.moving);
  warpalign_volume_options options = volume_options(WARPALIGN_TRANSLATION);
  options.modality = WARPALIGN_MODALITY_AUTO;
  warpalign_volume_registration result = empty_volume_result();
  warpalign_transform transform{};
  REQUIRE(warpalign_register_volumes(opened, &reference, &moving, &options, &result, &transform) ==
          WARPALIGN_OK);
  REQUIRE(result.reliable == 1);
  CHECK(result.modality == WARPALIGN_MODALITY_OTHER);
  CHECK(std::abs(result.translation[2] - 3) < 0.3);
  CHECK(warpalign_destroy_transform(transform) == WARPALIGN_OK);

  spec.unrelated = true;
  const test::HostPairOfVolumes others = test::draw_pair(spec);
  const warpalign_image another = volume_of(others.moving, spec.moving);
  options = volume_options(WARPALIGN_DEFORMABLE);
  options.max_rotation = 10;
  REQUIRE(warpalign_register_volumes(opened, &reference, &another, &options, &result, &transform) ==
          WARPALIGN_OK);
  CHECK(result.reliable == 0);
  CHECK(result.deformed == 0);
  CHECK(transform.id == 0);
}

TEST_CASE("c: wrong calls that register volumes give a status, and no transform") {
  const warpalign::Device& device = test::devices().front();
  const Opened opened(device);
  std::vector<float> voxels(12 * 10 * 8, 1);
  voxels[5] = 2;
  const Shape shape{12, 10, 8};
  const warpalign_image volume = volume_of(voxels, shape);
  warpalign_volume_registration result = empty_volume_result();
  warpalign_transform transform{7};
  const auto registered = [&](const warpalign_image& reference, const warpalign_image& moving,
                              const warpalign_volume_options* options) {
    transform.id = 7;
    return warpalign_register_volumes(opened, &reference, &moving, options, &result, &transform);
  };
  const auto with = [&](auto member, auto value) {
    warpalign_volume_options options = volume_options(WARPALIGN_DEFORMABLE);
    options.*member = value;
    return registered(volume, volume, &options);
  };
  using Options = warpalign_volume_options;
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "motion", with(&Options::motion, 99));
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "invalid motion for volumes",
                with(&Options::motion, WARPALIGN_HOMOGRAPHY));
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "modality", with(&Options::modality, -1));
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "refine must be 0 or 1", with(&Options::refine, 2));
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "max_rotation", with(&Options::max_rotation, 181));
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "grid_spacing", with(&Options::grid_spacing, 1));
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "grid_spacing",
                with(&Options::grid_spacing, std::numeric_limits<double>::quiet_NaN()));
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "bending_weight", with(&Options::bending_weight, 0));
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "struct_size", with(&Options::struct_size, 8));
  CHECK(transform.id == 0);
  warpalign_volume_options options = volume_options(WARPALIGN_RIGID);
  options.moving_spacing[1] = 0;
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "spacing", registered(volume, volume, &options));
  options = volume_options(WARPALIGN_RIGID);
  options.max_shift[2] = -1;
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "max_shift", registered(volume, volume, &options));

  warpalign_image wrong = volume;
  wrong.data = nullptr;
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "the moving volume has no data",
                registered(volume, wrong, nullptr));
  wrong = volume;
  wrong.row_bytes = 49;
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "must be dense", registered(wrong, volume, nullptr));
  wrong.width = std::numeric_limits<std::int64_t>::max();
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "must be dense", registered(wrong, volume, nullptr));
  wrong = volume;
  wrong.depth = 1;
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "12 x 10", registered(wrong, volume, nullptr));
  wrong.depth = -1;
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "each side", registered(volume, wrong, nullptr));
  wrong = volume;
  wrong.type = WARPALIGN_C32;
  wrong.width = 6;
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "complex", registered(volume, wrong, nullptr));
  wrong.type = 10;
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "pixel type", registered(volume, wrong, nullptr));
  const std::vector<float> flat(voxels.size(), 3);
  CHECK_REFUSED(WARPALIGN_INVALID_IMAGE, "constant",
                registered(volume_of(flat, shape), volume, nullptr));
  CHECK(transform.id == 0);

  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "result is null",
                warpalign_register_volumes(opened, &volume, &volume, nullptr, nullptr, nullptr));
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "the reference is null",
                warpalign_register_volumes(opened, nullptr, &volume, nullptr, &result, nullptr));
  result.struct_size = 3;
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "struct_size of result",
                registered(volume, volume, nullptr));
  CHECK_REFUSED(WARPALIGN_INVALID_HANDLE, "device",
                warpalign_register_volumes({}, &volume, &volume, nullptr, &result, nullptr));
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "registrar is null",
                warpalign_make_volume_registrar(opened, nullptr, nullptr));
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "options is null",
                warpalign_default_volume_options(nullptr, sizeof options));
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "struct_size",
                warpalign_default_volume_options(&options, 4));
  warpalign_volume_registrar registrar{5};
  options = volume_options(WARPALIGN_ROTATION);
  CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "invalid motion for volumes",
                warpalign_make_volume_registrar(opened, &options, &registrar));
  CHECK(registrar.id == 0);
}
