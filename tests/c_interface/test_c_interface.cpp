// The C interface, called as C calls it. Results equal those of the C++ interface, and no handle,
// size or pointer that can be checked crashes the process.
#include "support/devices.hpp"
#include "support/temporary_folder.hpp"

#include <warpalign/warpalign.h>
#include <warpalign/registrar.hpp>
#include <warpalign/stages/prefilter.hpp>
#include <warpalign/stages/resample.hpp>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <numbers>
#include <string>
#include <thread>
#include <vector>

namespace {

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

std::string last_error() { return warpalign_last_error(); }

#define CHECK_REFUSED(status, part, expression)                                \
  do {                                                                         \
    CHECK((expression) == (status));                                           \
    CHECK_MESSAGE(last_error().find(part) != std::string::npos, last_error()); \
  } while (false)

warpalign_registration empty_result() {
  warpalign_registration result{};
  result.struct_size = sizeof result;
  return result;
}

/// A device opened by the C interface. The destructor closes it.
class Opened {
 public:
  explicit Opened(const warpalign::Device& device) {
    REQUIRE(warpalign_open_device(device.info().id.c_str(), &device_) == WARPALIGN_OK);
    REQUIRE(device_.id != 0);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() { warpalign_close_device(device_); }
  operator warpalign_device() const { return device_; }  // NOLINT(google-explicit-constructor)

 private:
  warpalign_device device_{};
};

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
  options.motion = 7;
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
