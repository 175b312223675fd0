// The C interface, called as C calls it. Results equal those of the C++ interface, and no handle,
// size or pointer that can be checked crashes the process.
#include "c_interface/c_calls.hpp"
#include "support/devices.hpp"
#include "support/temporary_folder.hpp"

#include <warpalign/warpalign.h>
#include <warpalign/local_agreement.hpp>
#include <warpalign/registrar.hpp>
#include <warpalign/sensor_pattern.hpp>
#include <warpalign/stages/prefilter.hpp>
#include <warpalign/stages/resample.hpp>
#include <warpalign/transform.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using test::last_error;
using test::Opened;

constexpr int side = 128;

std::vector<std::uint8_t> picture(int ox = 0, int oy = 0, int pitch = side) {
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(pitch) * side);
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      const double u = x + ox;
      const double v = y + oy;
      pixels[static_cast<std::size_t>(y * pitch + x)] = static_cast<std::uint8_t>(
          128 + 60 * std::sin(0.21 * u + 0.003 * v * v) + 50 * std::cos(0.17 * v - 0.002 * u * u));
    }
  }
  return pixels;
}

warpalign_image plane(const void* data, warpalign_pixel_type type = WARPALIGN_U8) {
  return {data, type, side, side, 1, 0};
}

warpalign_registration empty_result() {
  warpalign_registration result{};
  result.struct_size = sizeof result;
  return result;
}

/// Two images; the second is the first one shifted by (-9, 5).
struct ShiftedPair {
  std::vector<std::uint8_t> reference = picture(), moving = picture(9, -5);
  warpalign_image first = plane(reference.data()), second = plane(moving.data());
};

constexpr double identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

}  // namespace

TEST_CASE("c: devices are listed, opened, described and closed") {
  std::size_t count = 0;
  REQUIRE(warpalign_list_devices(nullptr, 0, &count) == WARPALIGN_OK);
  REQUIRE(count > 0);
  std::vector<warpalign_device_info> infos(count);
  for (auto& info : infos) info.struct_size = sizeof info;
  REQUIRE(warpalign_list_devices(infos.data(), 1, &count) == WARPALIGN_OK);
  CHECK(count == infos.size());
  CHECK(infos[0].memory_bytes > 0);
  for (std::size_t i = 1; i < infos.size(); ++i) CHECK(infos[i].name[0] == '\0');

  const warpalign::Device& expected = test::devices().front();
  warpalign_device device{};
  REQUIRE(warpalign_open_device(expected.info().id.c_str(), &device) == WARPALIGN_OK);
  warpalign_device_info info{};
  info.struct_size = sizeof info;
  REQUIRE(warpalign_describe_device(device, &info) == WARPALIGN_OK);
  CHECK(info.id == expected.info().id);
  CHECK(info.backend == expected.info().backend);
  CHECK(info.memory_bytes == expected.info().memory_bytes);
  CHECK(warpalign_close_device(device) == WARPALIGN_OK);
  CHECK(warpalign_version() == std::string(WARPALIGN_TEST_VERSION));
}

TEST_CASE("c: a registration equals that of the C++ interface, with any row pitch") {
  test::on_every_device([](const warpalign::Device& device) {
    const Opened opened(device);
    constexpr int pitch = side + 24;
    const auto reference = picture();
    const auto moving = picture(9, -5, pitch);
    const warpalign_image first = plane(reference.data());
    warpalign_image second = plane(moving.data());
    second.row_bytes = pitch;
    warpalign_registration result = empty_result();
    REQUIRE(warpalign_register(opened, &first, &second, nullptr, &result) == WARPALIGN_OK);
    CHECK(last_error().empty());
    const auto expected =
        warpalign::register_images(device, {reference.data(), warpalign::PixelType::u8, side, side},
                                   {moving.data(), warpalign::PixelType::u8, side, side, pitch});
    // The code and the device are the same, but reductions may add in another order.
    CHECK(result.translation_x == doctest::Approx(expected.similarity.translation.x).epsilon(1e-5));
    CHECK(result.translation_y == doctest::Approx(expected.similarity.translation.y).epsilon(1e-5));
    CHECK(result.confidence == doctest::Approx(expected.confidence).epsilon(1e-5));
    CHECK(result.matrix[2] == doctest::Approx(expected.matrix.c).epsilon(1e-5));
    CHECK(result.matrix[5] == doctest::Approx(expected.matrix.f).epsilon(1e-5));
    CHECK(std::abs(result.translation_x + 9) < 0.05);
    CHECK(result.reliable == 1);
    CHECK(result.refined == 1);
    CHECK(result.overlap > 0.8);
  });
}

TEST_CASE("c: an ambiguous registration has the period of the texture") {
  // A texture that (20, 0) and (0, 16) repeat.
  const auto texture = [](int ox, int oy) {
    std::vector<std::uint8_t> pixels;
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        const double u = 2 * std::numbers::pi * (x + ox) / 20;
        const double v = 2 * std::numbers::pi * (y + oy) / 16;
        const double value = std::sin(u) + std::cos(v) + std::sin(u + v) + std::cos(2 * u - v);
        pixels.push_back(static_cast<std::uint8_t>(128 + 30 * value));
      }
    }
    return pixels;
  };
  test::on_every_device([&](const warpalign::Device& device) {
    const Opened opened(device);
    const auto reference = texture(0, 0);
    const auto moving = texture(-3, 2);
    const warpalign_image first = plane(reference.data());
    const warpalign_image second = plane(moving.data());
    warpalign_registration result = empty_result();
    REQUIRE(warpalign_register(opened, &first, &second, nullptr, &result) == WARPALIGN_OK);
    CHECK(result.ambiguous == 1);
    CHECK(result.reliable == 0);
    REQUIRE(result.period_count == 2);
    // The shortest vector first; measured to a fraction of a pixel over several periods.
    CHECK(std::abs(std::abs(result.period[0][1]) - 16) < 0.2);
    CHECK(std::abs(std::abs(result.period[1][0]) - 20) < 0.2);
    const ShiftedPair unique;
    REQUIRE(warpalign_register(opened, &unique.first, &unique.second, nullptr, &result) ==
            WARPALIGN_OK);
    CHECK(result.ambiguous == 0);
    CHECK(result.period_count == 0);
    CHECK(result.period[0][1] == 0);
    CHECK(result.undetermined_direction[0] == 0);
  });
}

TEST_CASE("c: the pattern of the sensor equals that of the C++ interface") {
  // Frames that jump, under the same offsets of columns and with noise.
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  std::vector<double> columns(side);
  for (double& column : columns) column = 14 * normal(random);
  std::vector<std::vector<std::uint8_t>> frames;
  for (int i = 0; i < 10; ++i) {
    auto& frame = frames.emplace_back(picture((7 * i) % 11 - 5, (5 * i) % 13 - 6));
    for (std::size_t k = 0; k < frame.size(); ++k) {
      const double value = 64 + 0.5 * frame[k] + columns[k % side] + 2 * normal(random);
      frame[k] = static_cast<std::uint8_t>(std::clamp(std::round(value), 0.0, 255.0));
    }
  }
  std::vector<warpalign_image> images;
  std::vector<warpalign::HostImage> views;
  for (const auto& frame : frames) {
    images.push_back(plane(frame.data()));
    views.push_back({frame.data(), warpalign::PixelType::u8, side, side, 0});
  }
  test::on_every_device([&](const warpalign::Device& device) {
    const Opened opened(device);
    warpalign_sensor_pattern found{};
    found.struct_size = sizeof found;
    std::vector<float> offsets(side * side, -1);
    const auto find = [&](const warpalign_image* some, std::size_t count) {
      return warpalign_find_sensor_pattern(opened, some, count, nullptr, nullptr, offsets.data(),
                                           &found);
    };
    REQUIRE(find(images.data(), images.size()) == WARPALIGN_OK);
    const auto expected = warpalign::find_sensor_pattern(device, views);
    REQUIRE(expected);
    CHECK(found.is_found == 1);
    CHECK(found.has_scene == 1);
    CHECK(found.rms == expected->rms);
    CHECK(found.frames == static_cast<std::int64_t>(expected->frames));
    CHECK(offsets == expected->offsets);
    REQUIRE(find(images.data(), 3) == WARPALIGN_OK);  // too few
    CHECK(found.is_found == 0);
    CHECK(offsets == std::vector<float>(side * side));
    CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "count", find(images.data(), 0));
    CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "frames is null", find(nullptr, 8));
    found.struct_size = 3;
    CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "struct_size", find(images.data(), 8));
  });
}

TEST_CASE("c: a registration uses its options") {
  test::on_every_device([](const warpalign::Device& device) {
    const Opened opened(device);
    const ShiftedPair pair;
    warpalign_register_options options{};
    REQUIRE(warpalign_default_register_options(&options, sizeof options) == WARPALIGN_OK);
    const warpalign::RegistrationOptions defaults;
    CHECK(options.max_scale == defaults.max_scale);
    CHECK(options.refine == 1);
    warpalign_registration result = empty_result();
    options.refine = 0;
    options.motion = WARPALIGN_TRANSLATION;
    REQUIRE(warpalign_register(opened, &pair.first, &pair.second, &options, &result) ==
            WARPALIGN_OK);
    CHECK(result.refined == 0);
    CHECK(result.scale == 1);
    CHECK(result.rotation_deg == 0);
    options.min_scale = 2;
    options.max_scale = 1;
    CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "min_scale",
                  warpalign_register(opened, &pair.first, &pair.second, &options, &result));
  });
}

TEST_CASE("c: each motion without a higher-DOF model is reported as requested") {
  test::on_every_device([](const warpalign::Device& device) {
    const Opened opened(device);
    const ShiftedPair pair;
    warpalign_register_options options{};
    REQUIRE(warpalign_default_register_options(&options, sizeof options) == WARPALIGN_OK);
    for (const warpalign_motion motion :
         {WARPALIGN_SIMILARITY, WARPALIGN_RIGID, WARPALIGN_TRANSLATION, WARPALIGN_ROTATION}) {
      CAPTURE(motion);
      options.motion = motion;
      warpalign_registration result = empty_result();
      REQUIRE(warpalign_register(opened, &pair.first, &pair.second, &options, &result) ==
              WARPALIGN_OK);
      CHECK(result.motion == motion);
      if (motion != WARPALIGN_SIMILARITY) CHECK(result.scale == doctest::Approx(1));
      if (motion == WARPALIGN_TRANSLATION) CHECK(result.rotation_deg == 0);
      // The images are shifted, which a rotation cannot compensate.
      if (motion == WARPALIGN_ROTATION) CHECK(std::abs(result.translation_x) < 1e-6);
    }
  });
}

TEST_CASE("c: an invalid configuration file and a missing device give a status") {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "warpalign");
  (void)folder.write("warpalign/warpalign.toml", "devise = 1\n");
  const char* before = std::getenv("XDG_CONFIG_HOME");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("XDG_CONFIG_HOME", folder.path().c_str(), 1);
  warpalign_device device{};
  CHECK_REFUSED(WARPALIGN_CONFIGURATION, "unknown key 'devise'",
                warpalign_open_device("opencl:0", &device));
  if (before == nullptr) {
    ::unsetenv("XDG_CONFIG_HOME");
  } else {
    ::setenv("XDG_CONFIG_HOME", kept.c_str(), 1);
  }
  CHECK_REFUSED(WARPALIGN_DEVICE_UNAVAILABLE, "no such device",
                warpalign_open_device("opencl:no such device", &device));
  CHECK(device.id == 0);
}

TEST_CASE("c: modality and search") {
  test::on_every_device([](const warpalign::Device& device) {
    const Opened opened(device);
    const ShiftedPair pair;
    warpalign_register_options options{};
    REQUIRE(warpalign_default_register_options(&options, sizeof options) == WARPALIGN_OK);
    CHECK(options.modality == WARPALIGN_MODALITY_SAME);
    CHECK(options.search == WARPALIGN_SEARCH_STANDARD);
    warpalign_registration result = empty_result();
    for (const warpalign_modality modality : {WARPALIGN_MODALITY_OTHER, WARPALIGN_MODALITY_AUTO}) {
      options.modality = modality;
      REQUIRE(warpalign_register(opened, &pair.first, &pair.second, &options, &result) ==
              WARPALIGN_OK);
      CHECK(result.reliable == 1);
      // Intensities suffice.
      CHECK(result.modality == (modality == WARPALIGN_MODALITY_OTHER ? WARPALIGN_MODALITY_OTHER
                                                                     : WARPALIGN_MODALITY_SAME));
    }
    options.modality = 7;
    CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "modality",
                  warpalign_register(opened, &pair.first, &pair.second, &options, &result));
    options.modality = WARPALIGN_MODALITY_OTHER;
    options.search = WARPALIGN_SEARCH_FAST;
    CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "log-polar",
                  warpalign_register(opened, &pair.first, &pair.second, &options, &result));
    options.search = -1;
    CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "search",
                  warpalign_register(opened, &pair.first, &pair.second, &options, &result));
  });
}

TEST_CASE("c: affine transforms and homographies") {
  test::on_every_device([](const warpalign::Device& device) {
    const Opened opened(device);
    const ShiftedPair pair;
    warpalign_register_options options{};
    REQUIRE(warpalign_default_register_options(&options, sizeof options) == WARPALIGN_OK);
    for (const warpalign_motion motion :
         {WARPALIGN_AFFINE, WARPALIGN_HOMOGRAPHY, WARPALIGN_AUTOMATIC}) {
      CAPTURE(motion);
      options.motion = motion;
      warpalign_registration result = empty_result();
      REQUIRE(warpalign_register(opened, &pair.first, &pair.second, &options, &result) ==
              WARPALIGN_OK);
      CHECK(result.reliable == 1);
      // A shift needs no higher-DOF model.
      CHECK(result.motion == (motion == WARPALIGN_AUTOMATIC ? WARPALIGN_SIMILARITY : motion));
      double transform[16];
      REQUIRE(warpalign_transform_from_homography(result.homography, transform) == WARPALIGN_OK);
      CHECK(transform[3] == result.homography[2]);
      CHECK(transform[7] == result.homography[5]);
      CHECK(transform[12] == result.homography[6]);
      CHECK(transform[15] == result.homography[8]);
      const double w = result.homography[6] * 60 + result.homography[7] * 50 + result.homography[8];
      const double x = result.homography[0] * 60 + result.homography[1] * 50 + result.homography[2];
      const double expected = result.matrix[0] * 60 + result.matrix[1] * 50 + result.matrix[2];
      // Near the centre the matrix and the homography map pixels to nearly the same positions.
      CHECK(x / w == doctest::Approx(expected).epsilon(1e-3));
    }
  });
}

TEST_CASE("c: a registrar keeps its reference, even after its device is closed") {
  test::on_every_device([](const warpalign::Device& device) {
    warpalign_registrar registrar{};
    {
      const Opened opened(device);
      REQUIRE(warpalign_make_registrar(opened, nullptr, &registrar) == WARPALIGN_OK);
    }
    const auto reference = picture();
    const std::vector<std::uint8_t> all(side * side, 1);
    const warpalign_image first = plane(reference.data());
    const warpalign_image mask = plane(all.data());
    warpalign_registration result = empty_result();
    CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "set_reference",
                  warpalign_align(registrar, &first, nullptr, &result));
    REQUIRE(warpalign_set_reference(registrar, &first, nullptr) == WARPALIGN_OK);
    for (const int shift : {3, 8}) {
      const auto moving = picture(shift, 0);
      const warpalign_image second = plane(moving.data());
      REQUIRE(warpalign_align(registrar, &second, &mask, &result) == WARPALIGN_OK);
      CHECK(std::abs(result.translation_x + shift) < 0.05);
      // A former result leads to the same answer, until it is cleared.
      const warpalign_registration former = result;
      REQUIRE(warpalign_set_initial(registrar, former.homography) == WARPALIGN_OK);
      REQUIRE(warpalign_align(registrar, &second, &mask, &result) == WARPALIGN_OK);
      CHECK(result.reliable == 1);
      CHECK(std::abs(result.translation_x + shift) < 0.05);
      constexpr double apart[9] = {1, 0, 10000, 0, 1, 0, 0, 0, 1};
      REQUIRE(warpalign_set_initial(registrar, apart) == WARPALIGN_OK);
      CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "apart",
                    warpalign_align(registrar, &second, &mask, &result));
      REQUIRE(warpalign_set_initial(registrar, nullptr) == WARPALIGN_OK);
    }
    constexpr double mirrored[9] = {-1, 0, 0, 0, 1, 0, 0, 0, 1};
    CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "mirrors",
                  warpalign_set_initial(registrar, mirrored));
    const std::vector<std::uint8_t> flat(side * side, 7);
    const warpalign_image constant = plane(flat.data());
    CHECK_REFUSED(WARPALIGN_INVALID_IMAGE, "constant",
                  warpalign_align(registrar, &constant, nullptr, &result));
    CHECK(warpalign_destroy_registrar(registrar) == WARPALIGN_OK);
  });
}

TEST_CASE("c: resampling and prefiltering equal those of the C++ interface") {
  test::on_every_device([](const warpalign::Device& device) {
    const Opened opened(device);
    const auto bytes = picture();
    const std::vector<float> pixels(bytes.begin(), bytes.end());
    const warpalign_image input = plane(pixels.data(), WARPALIGN_F32);
    constexpr double rotation[6] = {0.97, -0.1, 3, 0.12, 0.96, 2};
    double transform[16];
    REQUIRE(warpalign_transform_from_affine(rotation, transform) == WARPALIGN_OK);
    warpalign_spline_options options{};
    REQUIRE(warpalign_default_spline_options(&options, sizeof options) == WARPALIGN_OK);
    options.degree = 5;
    options.boundary = WARPALIGN_NEAREST;

    std::vector<float> found(side * side);
    const warpalign_output output{found.data(), WARPALIGN_F32, side, side, 0};
    REQUIRE(warpalign_resample(opened, &input, transform, &options, &output) == WARPALIGN_OK);
    warpalign::Stream stream = device.make_stream();
    const warpalign::Shape shape{side, side, 1};
    auto image = device.make_image(warpalign::PixelType::f32, shape);
    auto target = device.make_image(warpalign::PixelType::f32, shape);
    stream.upload(pixels.data(), image.size_bytes(), image.buffer());
    warpalign::ResamplePlan plan(device,
                                 {.spline = {.degree = 5, .boundary = warpalign::Boundary::nearest},
                                  .images = {.shape = shape},
                                  .output = shape});
    plan.execute(stream, image, warpalign::Affine{0.97, -0.1, 3, 0.12, 0.96, 2}, target);
    std::vector<float> expected(found.size());
    stream.download(target, expected.data(), target.size_bytes());
    CHECK(found == expected);

    warpalign_output room{};
    REQUIRE(warpalign_describe_coefficients(&input, &options, &room) == WARPALIGN_OK);
    CHECK(room.type == WARPALIGN_F32);
    CHECK(room.width ==
          side + 2 * warpalign::PrefilterPlan::margin(5, warpalign::Boundary::nearest));
    std::vector<float> coefficients(static_cast<std::size_t>(room.width * room.height));
    room.data = coefficients.data();
    REQUIRE(warpalign_prefilter(opened, &input, &options, &room) == WARPALIGN_OK);
    const warpalign::PrefilterSpec spec{
        .spline = {.degree = 5, .boundary = warpalign::Boundary::nearest},
        .images = {.shape = shape}};
    auto filtered = device.make_image(warpalign::PixelType::f32,
                                      warpalign::PrefilterPlan::coefficient_shape(spec));
    warpalign::PrefilterPlan(device, spec).execute(stream, image, filtered);
    std::vector<float> expected_coefficients(coefficients.size());
    stream.download(filtered, expected_coefficients.data(), filtered.size_bytes());
    CHECK(coefficients == expected_coefficients);
  });
}

TEST_CASE("c: volumes, and integers as output") {
  test::on_every_device([](const warpalign::Device& device) {
    const Opened opened(device);
    std::vector<float> voxels(16 * 12 * 8);
    for (std::size_t i = 0; i < voxels.size(); ++i) voxels[i] = static_cast<float>(i % 300);
    const warpalign_image input{voxels.data(), WARPALIGN_F32, 16, 12, 8, 0};
    std::vector<std::uint8_t> found(voxels.size());
    const warpalign_output output{found.data(), WARPALIGN_U8, 16, 12, 8};
    warpalign_spline_options options{};
    REQUIRE(warpalign_default_spline_options(&options, sizeof options) == WARPALIGN_OK);
    options.dimensions = 3;
    REQUIRE(warpalign_resample(opened, &input, identity, &options, &output) == WARPALIGN_OK);
    // The spline of integers is within 1e-3 of them, so they are the same after rounding; values
    // above 255 saturate.
    for (std::size_t i = 0; i < voxels.size(); ++i) {
      CHECK(found[i] == static_cast<std::uint8_t>(std::min(voxels[i], 255.0F)));
    }
    warpalign_image pitched = input;
    pitched.row_bytes = 128;
    CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "dense",
                  warpalign_resample(opened, &pitched, identity, &options, &output));
  });
}

TEST_CASE("c: missing samples stay missing, spoil nothing, and are counted") {
  test::on_every_device([](const warpalign::Device& device) {
    const Opened opened(device);
    constexpr std::size_t n = side;
    const auto bytes = picture();
    std::vector<float> pixels(bytes.begin(), bytes.end());
    const warpalign_image input = plane(pixels.data(), WARPALIGN_F32);
    double transform[16];
    constexpr double shift[6] = {1, 0, 0.5, 0, 1, 0.25};
    REQUIRE(warpalign_transform_from_affine(shift, transform) == WARPALIGN_OK);
    std::vector<float> whole(n * n), found(n * n), weights(n * n);
    const warpalign_output clean{whole.data(), WARPALIGN_F32, side, side, 0};
    REQUIRE(warpalign_resample(opened, &input, transform, nullptr, &clean) == WARPALIGN_OK);
    const warpalign_output output{found.data(), WARPALIGN_F32, side, side, 0};
    const warpalign_output shares{weights.data(), WARPALIGN_F32, side, side, 0};
    int64_t missing = -1;
    // Nothing is missing: the same bits, and all is known.
    REQUIRE(warpalign_resample_known(opened, &input, transform, nullptr, nullptr, &output, &shares,
                                     &missing) == WARPALIGN_OK);
    CHECK(missing == 0);
    CHECK(found == whole);
    CHECK(*std::min_element(weights.begin(), weights.end()) > 0.999F);
    for (std::size_t y = 20; y < 24; ++y) {
      for (std::size_t x = 30; x < 34; ++x) {
        pixels[y * n + x] = std::numeric_limits<float>::quiet_NaN();
      }
    }
    REQUIRE(warpalign_resample_known(opened, &input, transform, nullptr, nullptr, &output, &shares,
                                     &missing) == WARPALIGN_OK);
    CHECK(missing == 16);
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(std::isnan(found[i]) == (weights[i] < 0.5F));
      const bool is_far = i % n < 18 || i % n > 46 || i / n < 8 || i / n > 36;
      // 12 samples from the hole: 0.268^12 of 255, and the rounding of floats.
      if (is_far) CHECK(std::abs(found[i] - whole[i]) < 1e-3F);
    }
    CHECK(std::isnan(found[21 * n + 31]));
    // A registration ignores and counts them, too.
    const std::vector<float> unholed(bytes.begin(), bytes.end());
    const warpalign_image moving = plane(unholed.data(), WARPALIGN_F32);
    warpalign_registration registered{};
    registered.struct_size = sizeof registered;
    REQUIRE(warpalign_register(opened, &input, &moving, nullptr, &registered) == WARPALIGN_OK);
    CHECK(registered.missing_reference == 16);
    CHECK(registered.missing_moving == 0);
    // Integers: the nodata value stays, and nothing else becomes it.
    std::vector<std::uint8_t> holed(bytes.begin(), bytes.end());
    for (auto& value : holed) value = std::max<std::uint8_t>(value, 1);
    for (std::size_t x = 30; x < 34; ++x) {
      for (std::size_t y = 20; y < 24; ++y) holed[y * n + x] = 0;
    }
    const warpalign_image counts = plane(holed.data(), WARPALIGN_U8);
    std::vector<std::uint8_t> moved(n * n);
    const warpalign_output integers{moved.data(), WARPALIGN_U8, side, side, 0};
    constexpr double nodata = 0;
    REQUIRE(warpalign_resample_known(opened, &counts, transform, nullptr, &nodata, &integers,
                                     &shares, nullptr) == WARPALIGN_OK);
    for (std::size_t i = 0; i < moved.size(); ++i) CHECK((moved[i] == 0) == (weights[i] < 0.5F));
    // What cannot be done is refused.
    constexpr auto wrong = WARPALIGN_INVALID_ARGUMENT;
    CHECK_REFUSED(wrong, "nodata",
                  warpalign_resample_known(opened, &input, transform, nullptr, nullptr, &integers,
                                           nullptr, nullptr));
    constexpr double fraction = 0.5;
    CHECK_REFUSED(wrong, "nodata",
                  warpalign_resample_known(opened, &counts, transform, nullptr, &fraction,
                                           &integers, nullptr, nullptr));
    CHECK_REFUSED(wrong, "weights",
                  warpalign_resample_known(opened, &counts, transform, nullptr, &nodata, &integers,
                                           &integers, nullptr));
    std::fill(holed.begin(), holed.end(), std::uint8_t{0});
    CHECK_REFUSED(wrong, "all samples",
                  warpalign_resample_known(opened, &counts, transform, nullptr, &nodata, &integers,
                                           nullptr, nullptr));
  });
}

TEST_CASE("c: every type's number means that type") {
  // A constant image of each type: its spline is the constant, which f32 represents exactly.
  test::on_every_device([](const warpalign::Device& device) {
    const Opened opened(device);
    const auto check = [&](warpalign_pixel_type type, auto value) {
      CAPTURE(type);
      const std::vector<decltype(value)> samples(32 * 32, value);
      const warpalign_image input{samples.data(), type, 32, 32, 1, 0};
      std::vector<float> found(samples.size());
      const warpalign_output output{found.data(), WARPALIGN_F32, 32, 32, 1};
      REQUIRE(warpalign_resample(opened, &input, identity, nullptr, &output) == WARPALIGN_OK);
      for (const float one : found) CHECK(one == doctest::Approx(static_cast<double>(value)));
    };
    check(WARPALIGN_U8, std::uint8_t{200});
    check(WARPALIGN_I8, std::int8_t{-100});
    check(WARPALIGN_U16, std::uint16_t{60000});
    check(WARPALIGN_I16, std::int16_t{-30000});
    check(WARPALIGN_U32, std::uint32_t{4000000000U});
    check(WARPALIGN_I32, std::int32_t{-2000000000});
    check(WARPALIGN_F32, -1.5F);
    check(WARPALIGN_F64, 2.5);
  });
}

TEST_CASE("c: null and closed handles give a status") {
  const auto bytes = picture();
  const std::vector<float> pixels(bytes.begin(), bytes.end());
  std::vector<float> room(pixels.size());
  const warpalign_image image = plane(bytes.data());
  const warpalign_image input = plane(pixels.data(), WARPALIGN_F32);
  const warpalign_output output{room.data(), WARPALIGN_F32, side, side, 1};
  warpalign_registration result = empty_result();
  warpalign_device_info info{};
  info.struct_size = sizeof info;

  warpalign_device closed{};
  const std::string& name = test::devices().front().info().id;
  REQUIRE(warpalign_open_device(name.c_str(), &closed) == WARPALIGN_OK);
  warpalign_registrar destroyed{};
  REQUIRE(warpalign_make_registrar(closed, nullptr, &destroyed) == WARPALIGN_OK);
  REQUIRE(warpalign_destroy_registrar(destroyed) == WARPALIGN_OK);
  REQUIRE(warpalign_close_device(closed) == WARPALIGN_OK);

  const std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  for (const warpalign_device device :
       {warpalign_device{0}, closed, warpalign_device{destroyed.id}, warpalign_device{last}}) {
    CAPTURE(device.id);
    warpalign_registrar made{77};
    constexpr auto invalid = WARPALIGN_INVALID_HANDLE;
    CHECK_REFUSED(invalid, "closed", warpalign_describe_device(device, &info));
    CHECK_REFUSED(invalid, "closed", warpalign_register(device, &image, &image, nullptr, &result));
    CHECK_REFUSED(invalid, "closed", warpalign_make_registrar(device, nullptr, &made));
    CHECK(made.id == 0);
    CHECK_REFUSED(invalid, "closed",
                  warpalign_resample(device, &input, identity, nullptr, &output));
    CHECK_REFUSED(invalid, "closed", warpalign_prefilter(device, &input, nullptr, &output));
    CHECK_REFUSED(invalid, "closed", warpalign_close_device(device));
  }
  for (const warpalign_registrar registrar :
       {warpalign_registrar{0}, destroyed, warpalign_registrar{closed.id},
        warpalign_registrar{last}}) {
    CAPTURE(registrar.id);
    constexpr auto invalid = WARPALIGN_INVALID_HANDLE;
    CHECK_REFUSED(invalid, "destroyed", warpalign_set_reference(registrar, &image, nullptr));
    CHECK_REFUSED(invalid, "destroyed", warpalign_align(registrar, &image, nullptr, &result));
    CHECK_REFUSED(invalid, "destroyed", warpalign_set_initial(registrar, nullptr));
    CHECK_REFUSED(invalid, "destroyed", warpalign_destroy_registrar(registrar));
  }
}

TEST_CASE("c: null pointers and wrong sizes and numbers give a status") {
  const Opened device(test::devices().front());
  constexpr auto wrong = WARPALIGN_INVALID_ARGUMENT;
  const auto bytes = picture();
  const std::vector<float> pixels(bytes.begin(), bytes.end());
  std::vector<float> room(pixels.size());
  const warpalign_image image = plane(bytes.data());
  const warpalign_image input = plane(pixels.data(), WARPALIGN_F32);
  const warpalign_output output{room.data(), WARPALIGN_F32, side, side, 1};
  warpalign_registration result = empty_result();

  CHECK_REFUSED(wrong, "null", warpalign_open_device(nullptr, nullptr));
  CHECK_REFUSED(wrong, "null", warpalign_list_devices(nullptr, 0, nullptr));
  std::size_t count = 0;
  CHECK_REFUSED(wrong, "null", warpalign_list_devices(nullptr, 1, &count));
  warpalign_device_info info{};
  CHECK_REFUSED(wrong, "size", warpalign_list_devices(&info, 1, &count));
  CHECK_REFUSED(wrong, "size", warpalign_describe_device(device, &info));
  CHECK_REFUSED(wrong, "null", warpalign_describe_device(device, nullptr));
  warpalign_device none{5};
  CHECK(warpalign_open_device("no such backend", &none) == wrong);
  CHECK(none.id == 0);

  CHECK_REFUSED(wrong, "null", warpalign_register(device, nullptr, &image, nullptr, &result));
  CHECK_REFUSED(wrong, "null", warpalign_register(device, &image, nullptr, nullptr, &result));
  CHECK_REFUSED(wrong, "null", warpalign_register(device, &image, &image, nullptr, nullptr));
  warpalign_registration sizeless{};
  CHECK_REFUSED(wrong, "size", warpalign_register(device, &image, &image, nullptr, &sizeless));
  warpalign_register_options options{};
  CHECK_REFUSED(wrong, "size", warpalign_register(device, &image, &image, &options, &result));
  CHECK_REFUSED(wrong, "null", warpalign_default_register_options(nullptr, sizeof options));
  CHECK_REFUSED(wrong, "size", warpalign_default_register_options(&options, sizeof options - 8));
  REQUIRE(warpalign_default_register_options(&options, sizeof options) == WARPALIGN_OK);
  options.motion = 8;
  CHECK_REFUSED(wrong, "motion", warpalign_register(device, &image, &image, &options, &result));
  options.motion = WARPALIGN_RIGID;
  options.fast = 2;
  CHECK_REFUSED(wrong, "fast", warpalign_register(device, &image, &image, &options, &result));
  options.fast = 0;
  for (const int threads : {-1, 17}) {
    options.max_threads = threads;
    CHECK_REFUSED(wrong, "max_threads must be 0 to 16",
                  warpalign_register(device, &image, &image, &options, &result));
  }
  options.max_threads = 0;
  options.max_shift_x = -1;
  CHECK_REFUSED(wrong, "max_shift_x must be 0 or more",
                warpalign_register(device, &image, &image, &options, &result));
  options.max_shift_x = 1, options.max_shift_y = -1;
  CHECK_REFUSED(wrong, "max_shift_y must be 0 or more",
                warpalign_register(device, &image, &image, &options, &result));

  const warpalign_image dataless = plane(nullptr);
  CHECK_REFUSED(wrong, "no data", warpalign_register(device, &image, &dataless, nullptr, &result));
  const warpalign_image typeless = plane(bytes.data(), 10);
  CHECK_REFUSED(wrong, "type", warpalign_register(device, &image, &typeless, nullptr, &result));
  warpalign_image volume = image;
  volume.depth = 2;
  CHECK_REFUSED(wrong, "volume", warpalign_register(device, &image, &volume, nullptr, &result));
  warpalign_image small = image;
  small.width = 8;
  CHECK_REFUSED(wrong, "8 x 128", warpalign_register(device, &small, &image, nullptr, &result));
  warpalign_image narrow = image;
  narrow.row_bytes = 100;
  CHECK_REFUSED(wrong, "row_bytes", warpalign_register(device, &narrow, &image, nullptr, &result));

  CHECK_REFUSED(wrong, "null", warpalign_resample(device, nullptr, identity, nullptr, &output));
  CHECK_REFUSED(wrong, "null", warpalign_resample(device, &input, nullptr, nullptr, &output));
  CHECK_REFUSED(wrong, "null", warpalign_resample(device, &input, identity, nullptr, nullptr));
  warpalign_output nowhere = output;
  nowhere.data = nullptr;
  CHECK_REFUSED(wrong, "no data", warpalign_resample(device, &input, identity, nullptr, &nowhere));
  warpalign_spline_options spline{};
  REQUIRE(warpalign_default_spline_options(&spline, sizeof spline) == WARPALIGN_OK);
  spline.boundary = 7;
  CHECK_REFUSED(wrong, "boundary", warpalign_resample(device, &input, identity, &spline, &output));
  spline.boundary = WARPALIGN_WRAP;
  spline.degree = 6;
  CHECK_REFUSED(wrong, "degree", warpalign_resample(device, &input, identity, &spline, &output));
  spline.degree = 3;
  spline.prefilter = 3;
  CHECK_REFUSED(wrong, "prefilter", warpalign_resample(device, &input, identity, &spline, &output));
  spline.prefilter = WARPALIGN_PREFILTER_NONE;
  CHECK_REFUSED(wrong, "no coefficients", warpalign_prefilter(device, &input, &spline, &output));
  warpalign_image negative = input;
  negative.height = -1;
  CHECK(warpalign_resample(device, &negative, identity, nullptr, &output) == wrong);
  warpalign_output short_room = output;
  short_room.width = 64;
  CHECK_REFUSED(wrong, "must be", warpalign_prefilter(device, &input, nullptr, &short_room));
  CHECK_REFUSED(wrong, "null", warpalign_transform_from_affine(identity, nullptr));
  const double plane_identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  CHECK_REFUSED(wrong, "null", warpalign_transform_from_homography(plane_identity, nullptr));
  CHECK_REFUSED(wrong, "null", warpalign_transform_from_homography(nullptr, nullptr));

  CHECK(std::string(warpalign_status_name(wrong)) == "WARPALIGN_INVALID_ARGUMENT");
  CHECK(std::string(warpalign_status_name(-1)) == "unknown status");
  CHECK(std::string(warpalign_status_name(10)) == "unknown status");
}

TEST_CASE("c: several threads use one registrar, and handles that are closed meanwhile") {
  const warpalign::Device& expected = test::devices().front();
  warpalign_device device{};
  REQUIRE(warpalign_open_device(expected.info().id.c_str(), &device) == WARPALIGN_OK);
  warpalign_registrar registrar{};
  REQUIRE(warpalign_make_registrar(device, nullptr, &registrar) == WARPALIGN_OK);
  const auto reference = picture();
  const warpalign_image first = plane(reference.data());
  REQUIRE(warpalign_set_reference(registrar, &first, nullptr) == WARPALIGN_OK);
  std::atomic<int> wrong{0};
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int shift = 2; shift < 6; ++shift) {
    threads.emplace_back([&, shift] {
      const auto moving = picture(shift, 0);
      const warpalign_image second = plane(moving.data());
      for (;;) {
        warpalign_registration result = empty_result();
        const warpalign_status status = warpalign_align(registrar, &second, nullptr, &result);
        if (status == WARPALIGN_INVALID_HANDLE) {  // the main thread has closed it
          if (last_error().find("destroyed") == std::string::npos) ++wrong;
          return;
        }
        // Each thread has its own last error.
        const bool right = status == WARPALIGN_OK && last_error().empty() &&
                           std::abs(result.translation_x + shift) < 0.05;
        if (!right) ++wrong;
        ++done;
      }
    });
  }
  while (done < 8) std::this_thread::yield();
  CHECK(warpalign_destroy_registrar(registrar) == WARPALIGN_OK);
  CHECK(warpalign_close_device(device) == WARPALIGN_OK);
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

namespace {

/// The picture, and the same bent by up to 2 pixels: the picture at p is in it at p + u(p).
std::vector<std::uint8_t> bent_picture() {
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      const double u = x + 2 * std::sin(0.05 * y);
      const double v = y;
      pixels.push_back(static_cast<std::uint8_t>(128 + 60 * std::sin(0.21 * u + 0.003 * v * v) +
                                                 50 * std::cos(0.17 * v - 0.002 * u * u)));
    }
  }
  return pixels;
}

warpalign_register_options deformable_options() {
  warpalign_register_options options{};
  REQUIRE(warpalign_default_register_options(&options, sizeof options) == WARPALIGN_OK);
  options.motion = WARPALIGN_DEFORMABLE;
  return options;
}

}  // namespace

TEST_CASE("c: a deformation equals that of the C++ interface") {
  test::on_every_device([](const warpalign::Device& device) {
    const Opened opened(device);
    const std::vector<std::uint8_t> reference = bent_picture();
    const std::vector<std::uint8_t> moving = picture();
    const warpalign_image fixed = plane(reference.data());
    const warpalign_image moved = plane(moving.data());
    warpalign_register_options options = deformable_options();
    options.grid_spacing = 8;
    options.bending_weight = 1;
    warpalign_registrar registrar{};
    REQUIRE(warpalign_make_registrar(opened, &options, &registrar) == WARPALIGN_OK);
    REQUIRE(warpalign_set_reference(registrar, &fixed, nullptr) == WARPALIGN_OK);
    warpalign_registration result = empty_result();
    warpalign_deformation deformation{};
    REQUIRE(warpalign_align_deformable(registrar, &moved, nullptr, &result, &deformation) ==
            WARPALIGN_OK);
    REQUIRE(result.reliable == 1);
    REQUIRE(deformation.id != 0);

    warpalign::RegistrationOptions chosen;
    chosen.motion = warpalign::Motion::deformable;
    chosen.grid_spacing = 8;
    chosen.bending_weight = 1;
    const auto expected = warpalign::register_images(
        device, {reference.data(), warpalign::PixelType::u8, side, side, 0},
        {moving.data(), warpalign::PixelType::u8, side, side, 0}, chosen);
    REQUIRE(expected.deformation);
    warpalign_deformation_info info{};
    info.struct_size = sizeof info;
    REQUIRE(warpalign_describe_deformation(deformation, &info) == WARPALIGN_OK);
    CHECK(info.correlation == expected.deformation->correlation);
    CHECK(info.min_jacobian == expected.deformation->min_jacobian);
    CHECK(info.width == side);
    const double points[4] = {20, 30, 64.5, 100.25};
    double mapped[4] = {};
    REQUIRE(warpalign_map_points(deformation, points, 2, mapped) == WARPALIGN_OK);
    const auto second = expected.deformation->transform(warpalign::Point3{64.5, 100.25, 0});
    CHECK(mapped[2] == second.x);
    CHECK(mapped[3] == second.y);
    // The moving image has at p + u(p) what the reference has at p: u = 2 sin(0.05 y) along x.
    CHECK(std::abs(mapped[0] - (20 + 2 * std::sin(0.05 * 30))) < 0.2);

    std::vector<float> field(2 * side * side);
    const warpalign_output target{field.data(), WARPALIGN_F32, side, side, 2};
    REQUIRE(warpalign_deformation_field(deformation, &target) == WARPALIGN_OK);
    const auto at = expected.deformation->transform(warpalign::Point3{20, 30, 0});
    CHECK(field[30 * side + 20] == doctest::Approx(at.x - 20).epsilon(1e-6));
    CHECK(field[side * side + 30 * side + 20] == doctest::Approx(at.y - 30).epsilon(1e-6));

    std::vector<float> warped(side * side);
    const warpalign_output straight{warped.data(), WARPALIGN_F32, side, side, 1};
    REQUIRE(warpalign_warp_deformed(opened, deformation, &moved, nullptr, &straight) ==
            WARPALIGN_OK);
    std::vector<float> wanted(reference.begin(), reference.end());
    double sum = 0;
    for (int y = 12; y < side - 12; ++y) {
      for (int x = 12; x < side - 12; ++x) {
        const auto i = static_cast<std::size_t>(y * side + x);
        sum += std::abs(warped[i] - wanted[i]);
      }
    }
    // Gray levels of 0 to 255, whose rounding alone makes a mean of 0.25.
    CHECK(sum / ((side - 24) * (side - 24)) < 2);

    std::vector<float> agreement(side * side);
    const warpalign_image a = plane(wanted.data(), WARPALIGN_F32);
    const warpalign_image b = plane(warped.data(), WARPALIGN_F32);
    const warpalign_output map{agreement.data(), WARPALIGN_F32, side, side, 1};
    REQUIRE(warpalign_local_agreement(&a, &b, nullptr, &map) == WARPALIGN_OK);
    const auto expected_map = warpalign::local_agreement(wanted, warped, {side, side, 1});
    for (std::size_t i = 0; i < agreement.size(); ++i) {
      if (!std::isnan(expected_map[i])) REQUIRE(agreement[i] == expected_map[i]);
    }
    CHECK(agreement[64 * side + 64] > 0.9F);
    std::vector<std::uint8_t> none(side * side, 0);
    const warpalign_image mask = plane(none.data());
    REQUIRE(warpalign_local_agreement(&a, &b, &mask, &map) == WARPALIGN_OK);
    CHECK(std::isnan(agreement[64 * side + 64]));

    CHECK(warpalign_destroy_deformation(deformation) == WARPALIGN_OK);
    CHECK_REFUSED(WARPALIGN_INVALID_HANDLE, "destroyed",
                  warpalign_map_points(deformation, points, 2, mapped));
    CHECK_REFUSED(WARPALIGN_INVALID_HANDLE, "destroyed",
                  warpalign_destroy_deformation(deformation));
    CHECK(warpalign_destroy_registrar(registrar) == WARPALIGN_OK);
  });
}

TEST_CASE("c: an unreliable registration has no deformation") {
  test::on_every_device([](const warpalign::Device& device) {
    const Opened opened(device);
    const std::vector<std::uint8_t> reference = picture();
    std::vector<std::uint8_t> noise;
    std::uint32_t state = 1;
    for (int i = 0; i < side * side; ++i) {
      state = state * 1664525U + 1013904223U;
      noise.push_back(static_cast<std::uint8_t>(state >> 24U));
    }
    const warpalign_image fixed = plane(reference.data());
    const warpalign_image moved = plane(noise.data());
    const warpalign_register_options options = deformable_options();
    warpalign_registrar registrar{};
    REQUIRE(warpalign_make_registrar(opened, &options, &registrar) == WARPALIGN_OK);
    REQUIRE(warpalign_set_reference(registrar, &fixed, nullptr) == WARPALIGN_OK);
    warpalign_registration result = empty_result();
    warpalign_deformation deformation{7};
    REQUIRE(warpalign_align_deformable(registrar, &moved, nullptr, &result, &deformation) ==
            WARPALIGN_OK);
    CHECK(result.reliable == 0);
    CHECK(deformation.id == 0);

    // Wrong calls.
    CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "warpalign_align_deformable",
                  warpalign_align(registrar, &moved, nullptr, &result));
    CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "warpalign_align_deformable",
                  warpalign_register(opened, &fixed, &moved, &options, &result));
    CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "deformation is null",
                  warpalign_align_deformable(registrar, &moved, nullptr, &result, nullptr));
    warpalign_registrar rigid{};
    REQUIRE(warpalign_make_registrar(opened, nullptr, &rigid) == WARPALIGN_OK);
    CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "WARPALIGN_DEFORMABLE",
                  warpalign_align_deformable(rigid, &moved, nullptr, &result, &deformation));
    warpalign_register_options wrong = options;
    wrong.grid_spacing = 1;
    CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "grid_spacing",
                  warpalign_make_registrar(opened, &wrong, &rigid));
    wrong = options;
    wrong.bending_weight = 0;
    CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "bending_weight",
                  warpalign_make_registrar(opened, &wrong, &rigid));
    std::vector<float> values(side * side);
    const warpalign_image a = plane(values.data(), WARPALIGN_F32);
    const warpalign_output map{values.data(), WARPALIGN_F32, side, side, 1};
    const warpalign_output narrow{values.data(), WARPALIGN_F32, side - 1, side, 1};
    CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "must be f32",
                  warpalign_local_agreement(&a, &fixed, nullptr, &map));
    CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "agreement",
                  warpalign_local_agreement(&a, &a, nullptr, &narrow));
    CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "reference is null",
                  warpalign_local_agreement(nullptr, &a, nullptr, &map));
    CHECK(warpalign_destroy_registrar(registrar) == WARPALIGN_OK);
  });
}

namespace {

constexpr double shift_and_turn[16] = {0, -1, 0, 90, 1, 0, 0, 5, 0, 0, 1, 0, 0, 0, 0, 1};

warpalign_point_grid pixels_of(std::int64_t width, std::int64_t height, std::int64_t depth) {
  warpalign_point_grid grid{};
  REQUIRE(warpalign_pixel_grid(width, height, depth, &grid, sizeof grid) == WARPALIGN_OK);
  return grid;
}

/// Displacements that bend by up to 2 pixels: along x, then y, and in space z.
std::vector<double> bending(const warpalign_point_grid& grid, int dimensions) {
  std::vector<double> samples;
  for (int axis = 0; axis < dimensions; ++axis) {
    for (std::int64_t i = 0; i < grid.width * grid.height * grid.depth; ++i) {
      samples.push_back(2 * std::sin(0.11 * static_cast<double>(i % grid.width) + axis) *
                        std::cos(0.07 * static_cast<double>(i / grid.width % grid.height)));
    }
  }
  return samples;
}

/// A displacement in C, and the same in C++.
struct Bent {
  explicit Bent(int dimensions)
      : grid(dimensions == 2 ? pixels_of(40, 30, 1) : pixels_of(12, 10, 8)),
        samples(bending(grid, dimensions)) {
    REQUIRE(warpalign_displacement_transform(dimensions, &grid, samples.data(), WARPALIGN_F64,
                                             WARPALIGN_FIELD_CUBIC, WARPALIGN_PIXELS,
                                             &transform) == WARPALIGN_OK);
    const warpalign::PointGrid points{.shape = {grid.width, grid.height, grid.depth}};
    std::vector<const double*> components;
    for (int axis = 0; axis < dimensions; ++axis) {
      components.push_back(samples.data() + axis * points.shape.pixels());
    }
    same = warpalign::Transform::displacement(points, components,
                                              warpalign::FieldInterpolation::cubic);
  }
  Bent(const Bent&) = delete;
  Bent& operator=(const Bent&) = delete;
  ~Bent() { warpalign_destroy_transform(transform); }

  warpalign_point_grid grid;
  std::vector<double> samples;
  warpalign_transform transform{};
  warpalign::Transform same;
};

}  // namespace

TEST_CASE("c: transforms are composed, inverted, converted and applied to points") {
  for (const int dimensions : {2, 3}) {
    CAPTURE(dimensions);
    const Bent bent(dimensions);
    warpalign_transform turn{}, both{}, back{}, world{};
    REQUIRE(warpalign_matrix_transform(WARPALIGN_KIND_RIGID, dimensions, shift_and_turn,
                                       WARPALIGN_PIXELS, &turn) == WARPALIGN_OK);
    REQUIRE(warpalign_compose_transforms(turn, bent.transform, &both) == WARPALIGN_OK);
    REQUIRE(warpalign_invert_transform(both, &back) == WARPALIGN_OK);
    const std::vector<double> points{3, 4, 5, 7, 2, 6};
    const std::int64_t count = dimensions == 2 ? 3 : 2;
    std::vector<double> mapped(6), returned(6), expected(6);
    REQUIRE(warpalign_transform_points(both, points.data(), count, WARPALIGN_OUTSIDE_EDGE,
                                       mapped.data()) == WARPALIGN_OK);
    bent.same.points(points, expected);
    for (std::size_t i = 0; i < 6; i += static_cast<std::size_t>(dimensions)) {
      CHECK(mapped[i] == 90 - expected[i + 1]);
      CHECK(mapped[i + 1] == 5 + expected[i]);
    }
    REQUIRE(warpalign_transform_points(back, mapped.data(), count, WARPALIGN_OUTSIDE_EDGE,
                                       returned.data()) == WARPALIGN_OK);
    // Newton's method ends at 1e-10 pixels.
    for (std::size_t i = 0; i < 6; ++i) CHECK(std::abs(returned[i] - points[i]) < 1e-9);

    warpalign_transform_info info{};
    info.struct_size = sizeof info;
    REQUIRE(warpalign_describe_transform(back, &info) == WARPALIGN_OK);
    CHECK(info.kind == WARPALIGN_KIND_CHAIN);
    CHECK(info.dimensions == dimensions);
    CHECK(info.has_matrix == 0);
    CHECK(info.inverse_residual < 1e-9);
    REQUIRE(warpalign_describe_transform(turn, &info) == WARPALIGN_OK);
    CHECK(info.kind == WARPALIGN_KIND_RIGID);
    CHECK(info.has_matrix == 1);
    CHECK(std::equal(info.matrix, info.matrix + 16, shift_and_turn));

    warpalign_point_grid coarse = bent.grid;
    for (int axis = 0; axis < dimensions; ++axis) coarse.spacing[axis] = 2;
    REQUIRE(warpalign_convert_transform(turn, WARPALIGN_WORLD, &coarse, &coarse, &world) ==
            WARPALIGN_OK);
    REQUIRE(warpalign_describe_transform(world, &info) == WARPALIGN_OK);
    CHECK(info.coordinates == WARPALIGN_WORLD);
    CHECK(info.matrix[3] == 180);
    for (const warpalign_transform made : {turn, both, back, world}) {
      CHECK(warpalign_destroy_transform(made) == WARPALIGN_OK);
    }
  }
}

TEST_CASE("c: fields, determinants, B-splines and thin-plate splines equal those of C++") {
  for (const int dimensions : {2, 3}) {
    CAPTURE(dimensions);
    const Bent bent(dimensions);
    const auto d = static_cast<std::size_t>(dimensions);
    const std::size_t count = bent.samples.size() / d;
    std::vector<double> field(bent.samples.size()), determinants(count), expected(count);
    REQUIRE(warpalign_transform_field(bent.transform, &bent.grid, WARPALIGN_OUTSIDE_NAN,
                                      WARPALIGN_F64, field.data()) == WARPALIGN_OK);
    // The spline goes through its samples, up to the rounding of its filter.
    for (std::size_t i = 0; i < field.size(); ++i) {
      CHECK(std::abs(field[i] - bent.samples[i]) < 1e-12);
    }
    REQUIRE(warpalign_transform_jacobian(bent.transform, &bent.grid, determinants.data()) ==
            WARPALIGN_OK);
    bent.same.jacobian({.shape = {bent.grid.width, bent.grid.height, bent.grid.depth}}, expected);
    CHECK(determinants == expected);

    warpalign_transform spline{}, plate{};
    const std::vector<float> ones(bent.samples.size(), 1.5F);
    REQUIRE(warpalign_bspline_transform(dimensions, &bent.grid, ones.data(), WARPALIGN_F32,
                                        WARPALIGN_PIXELS, &spline) == WARPALIGN_OK);
    std::vector<double> point{4, 3, 2};
    REQUIRE(warpalign_transform_points(spline, point.data(), 1, WARPALIGN_OUTSIDE_EDGE,
                                       point.data()) == WARPALIGN_OK);
    CHECK(std::abs(point[0] - 5.5) < 1e-12);
    const std::vector<double> from{0, 0, 1, 9, 2, 1, 0.5, 9, 2.5, 8.5, 4, 8, 4.5, 7, 3};
    std::vector<double> to = from;
    for (double& coordinate : to) coordinate = 2 * coordinate + 1;
    const auto pairs = static_cast<std::int64_t>(from.size()) / dimensions;
    REQUIRE(warpalign_thin_plate_transform(dimensions, from.data(), to.data(), pairs,
                                           WARPALIGN_PIXELS, &plate) == WARPALIGN_OK);
    std::vector<double> landmarks(from.size());
    REQUIRE(warpalign_transform_points(plate, from.data(), pairs, WARPALIGN_OUTSIDE_EDGE,
                                       landmarks.data()) == WARPALIGN_OK);
    for (std::size_t i = 0; i < static_cast<std::size_t>(pairs * dimensions); ++i) {
      CHECK(std::abs(landmarks[i] - to[i]) < 1e-9);
    }
    warpalign_destroy_transform(spline);
    warpalign_destroy_transform(plate);
  }
}

TEST_CASE("c: images and volumes are warped by a transform as its positions say") {
  test::on_every_device([](const warpalign::Device& device) {
    const Opened opened(device);
    for (const int dimensions : {2, 3}) {
      CAPTURE(dimensions);
      const Bent bent(dimensions);
      const warpalign_point_grid& g = bent.grid;
      std::vector<float> moving(static_cast<std::size_t>(g.width * g.height * g.depth));
      for (std::size_t i = 0; i < moving.size(); ++i) moving[i] = static_cast<float>(i % 97);
      std::vector<float> found(moving.size());
      const warpalign_image input{moving.data(), WARPALIGN_F32, g.width, g.height, g.depth, 0};
      const warpalign_output output{found.data(), WARPALIGN_F32, g.width, g.height, g.depth};
      warpalign_spline_options options{};
      REQUIRE(warpalign_default_spline_options(&options, sizeof options) == WARPALIGN_OK);
      options.dimensions = dimensions;
      options.degree = 1;
      options.prefilter = WARPALIGN_PREFILTER_NONE;
      options.boundary = WARPALIGN_NEAREST;
      REQUIRE(warpalign_warp(opened, bent.transform, &input, &options, &output) == WARPALIGN_OK);
      double largest = 0;
      for (std::int64_t z = 0; z < g.depth; ++z) {
        for (std::int64_t y = 0; y < g.height; ++y) {
          for (std::int64_t x = 0; x < g.width; ++x) {
            const auto q = bent.same(warpalign::Point3{
                static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)});
            // Linear interpolation between the nearest samples, the edges repeated.
            const std::array<double, 3> at{std::clamp(q.x, 0.0, static_cast<double>(g.width - 1)),
                                           std::clamp(q.y, 0.0, static_cast<double>(g.height - 1)),
                                           std::clamp(q.z, 0.0, static_cast<double>(g.depth - 1))};
            double value = 0;
            for (int corner = 0; corner < 8; ++corner) {
              double weight = 1;
              std::array<std::int64_t, 3> index{};
              const std::array<std::int64_t, 3> extent{g.width, g.height, g.depth};
              for (std::size_t a = 0; a < 3; ++a) {
                const auto low = static_cast<std::int64_t>(at[a]);
                const bool upper = (corner >> a & 1) != 0;
                const double fraction = at[a] - static_cast<double>(low);
                weight *= upper ? fraction : 1 - fraction;
                index[a] = std::min(low + (upper ? 1 : 0), extent[a] - 1);
              }
              value += weight * static_cast<double>(moving[static_cast<std::size_t>(
                                    (index[2] * g.height + index[1]) * g.width + index[0])]);
            }
            const auto i = static_cast<std::size_t>((z * g.height + y) * g.width + x);
            largest = std::max(largest, std::abs(value - static_cast<double>(found[i])));
          }
        }
      }
      // Positions are single-precision: 4e-6 of 40 pixels, at steps of up to 96.
      CHECK(largest < 1e-3);
      if (dimensions == 3) {
        CHECK_REFUSED(WARPALIGN_INVALID_ARGUMENT, "3 dimensions", [&] {
          options.dimensions = 2;
          return warpalign_warp(opened, bent.transform, &input, &options, &output);
        }());
      }
    }
  });
}

TEST_CASE("c: wrong transforms give a status, and no handle") {
  const Bent bent(2);
  warpalign_transform made{77};
  const auto bad = WARPALIGN_INVALID_ARGUMENT;
  CHECK_REFUSED(
      bad, "kind",
      warpalign_matrix_transform(WARPALIGN_KIND_CHAIN, 2, shift_and_turn, WARPALIGN_PIXELS, &made));
  CHECK(made.id == 0);
  CHECK_REFUSED(
      bad, "dimensions",
      warpalign_matrix_transform(WARPALIGN_KIND_RIGID, 4, shift_and_turn, WARPALIGN_PIXELS, &made));
  CHECK_REFUSED(bad, "coordinates",
                warpalign_matrix_transform(WARPALIGN_KIND_RIGID, 2, shift_and_turn, 9, &made));
  CHECK_REFUSED(
      bad, "matrix is null",
      warpalign_matrix_transform(WARPALIGN_KIND_RIGID, 2, nullptr, WARPALIGN_PIXELS, &made));
  CHECK_REFUSED(bad, "samples",
                warpalign_displacement_transform(2, &bent.grid, bent.samples.data(), WARPALIGN_U8,
                                                 WARPALIGN_FIELD_LINEAR, WARPALIGN_PIXELS, &made));
  CHECK_REFUSED(bad, "samples is null",
                warpalign_displacement_transform(2, &bent.grid, nullptr, WARPALIGN_F32,
                                                 WARPALIGN_FIELD_LINEAR, WARPALIGN_PIXELS, &made));
  warpalign_point_grid wrong = bent.grid;
  wrong.width = std::int64_t{1} << 40;
  CHECK_REFUSED(bad, "2^30",
                warpalign_displacement_transform(2, &wrong, bent.samples.data(), WARPALIGN_F64,
                                                 WARPALIGN_FIELD_LINEAR, WARPALIGN_PIXELS, &made));
  wrong = bent.grid;
  wrong.struct_size = 3;
  CHECK_REFUSED(bad, "struct_size",
                warpalign_transform_jacobian(bent.transform, &wrong,
                                             const_cast<double*>(bent.samples.data())));
  std::vector<double> folding = bent.samples;
  for (double& sample : folding) sample *= 100;
  warpalign_transform folded{};
  REQUIRE(warpalign_displacement_transform(2, &bent.grid, folding.data(), WARPALIGN_F64,
                                           WARPALIGN_FIELD_LINEAR, WARPALIGN_PIXELS,
                                           &folded) == WARPALIGN_OK);
  CHECK_REFUSED(bad, "folds", warpalign_invert_transform(folded, &made));
  CHECK(warpalign_destroy_transform(folded) == WARPALIGN_OK);
  CHECK_REFUSED(WARPALIGN_INVALID_HANDLE, "destroyed", warpalign_destroy_transform(folded));
  CHECK_REFUSED(WARPALIGN_INVALID_HANDLE, "destroyed",
                warpalign_compose_transforms(folded, bent.transform, &made));
  double point[2] = {1, 2};
  CHECK_REFUSED(
      bad, "negative",
      warpalign_transform_points(bent.transform, point, -1, WARPALIGN_OUTSIDE_EDGE, point));
}
