// `register` and `register-volume` with deformable motion, on images drawn with a known field.
#include "io/image_file.hpp"
#include "program/arrays.hpp"
#include "program/picture.hpp"
#include "program/run_program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <vector>

namespace warpalign::test {
namespace {

using namespace program;
using nlohmann::json;

const Shape shape{240, 200, 1};

Point displacement(const Point& p) {
  const double wave = 2 * std::numbers::pi / 120;
  return {2.5 * std::sin(wave * p.y), 2 * std::cos(wave * p.x)};
}

/// The texture at p + share u(p).
LoadedImage drawn(double share) {
  LoadedImage image = make_image(shape.width, shape.height, 1, PixelType::u16);
  const Texture texture;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const Point p{static_cast<double>(x), static_cast<double>(y)};
      const Point u = displacement(p);
      image.samples<std::uint16_t>()[static_cast<std::size_t>(y * shape.width + x)] =
          static_cast<std::uint16_t>(65535 * texture({p.x + share * u.x, p.y + share * u.y}));
    }
  }
  return image;
}

struct Pair {
  ScratchFolder folder;
  std::string reference = folder / "reference.png";
  std::string moving = folder / "moving.png";

  Pair() {
    save_image(reference, drawn(1));
    save_image(moving, drawn(0));
  }
  [[nodiscard]] Outcome run(const std::vector<std::string>& options) const {
    std::vector<std::string> arguments{"register",   reference,  moving,       "--motion",
                                       "deformable", "--device", test_device()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_program(arguments);
  }
};

/// The root mean square distance between a field and the true one, away from the edges.
double field_error(const Array& field) {
  constexpr std::int64_t edge = 12;
  const auto u = field.samples<float>();
  const auto pixels = static_cast<std::size_t>(shape.pixels());
  double squares = 0;
  double count = 0;
  for (std::int64_t y = edge; y < shape.height - edge; ++y) {
    for (std::int64_t x = edge; x < shape.width - edge; ++x) {
      const auto i = static_cast<std::size_t>(y * shape.width + x);
      const Point truth = displacement({static_cast<double>(x), static_cast<double>(y)});
      squares += std::pow(static_cast<double>(u[i]) - truth.x, 2) +
                 std::pow(static_cast<double>(u[pixels + i]) - truth.y, 2);
      count += 1;
    }
  }
  return std::sqrt(squares / count);
}

}  // namespace

TEST_CASE("register: a deformation is found, and all requested files are written") {
  require_test_device();
  const Pair pair;
  const ScratchFolder& folder = pair.folder;
  const Outcome outcome = pair.run({"--json", "--field", folder / "field.npy", "--output",
                                    folder / "straight.tif", "--overlay", folder / "overlay.png"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  const json report = json::parse(outcome.out);
  CHECK(report["status"] == "ok");
  CHECK(report["motion"] == "deformable");
  const json& found = report["deformation"];
  CHECK(found["min_jacobian"].get<double>() > 0.1);
  CHECK(found["extreme_jacobians"].get<double>() == 0);
  CHECK(found["correlation"].get<double>() > found["correlation_before"].get<double>());
  const Array field = load_npy(folder / "field.npy");
  REQUIRE(field.extents == std::vector<std::int64_t>{2, shape.height, shape.width});
  // Fields are found to 0.05 pixels where the image has structure.
  CHECK(field_error(field) < 0.1);
  CHECK(load_image(folder / "straight.tif").width == shape.width);
  CHECK(load_image(folder / "overlay.png").width > 3 * shape.width);
}

TEST_CASE("register: the maps of a deformation agree with its report") {
  require_test_device();
  const Pair pair;
  const ScratchFolder& folder = pair.folder;
  const Outcome outcome = pair.run(
      {"--json", "--jacobian", folder / "jacobian.npy", "--agreement", folder / "agreement.npy"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  const json report = json::parse(outcome.out);
  const Array jacobian = load_npy(folder / "jacobian.npy");
  REQUIRE(jacobian.extents == std::vector<std::int64_t>{shape.height, shape.width});
  const auto [least, most] = std::ranges::minmax_element(jacobian.samples<float>());
  // The report has the determinants in single precision.
  CHECK(std::abs(*least - report["deformation"]["min_jacobian"].get<double>()) < 1e-4);
  CHECK(std::abs(*most - report["deformation"]["max_jacobian"].get<double>()) < 1e-4);
  const Array agreement = load_npy(folder / "agreement.npy");
  REQUIRE(agreement.extents == jacobian.extents);
  std::size_t high = 0;
  for (const float r : agreement.samples<float>()) high += r > 0.9F ? 1 : 0;
  // Some pixels near the edges lie outside of the moving image.
  CHECK(static_cast<double>(high) > 0.9 * static_cast<double>(shape.pixels()));

  REQUIRE(pair.run({"--jacobian", folder / "jacobian.png", "--agreement", folder / "agreement.png"})
              .status == 0);
  CHECK(load_image(folder / "jacobian.png").channels == 3);
  const LoadedImage gray = load_image(folder / "agreement.png");
  const std::size_t centre = static_cast<std::size_t>(3 * (100 * shape.width + 120));
  CHECK(gray.samples<std::uint8_t>()[centre] > 230);
}

TEST_CASE("register: masked pixels do not change a deformation") {
  require_test_device();
  const Pair pair;
  const ScratchFolder& folder = pair.folder;
  LoadedImage mask = make_image(shape.width, shape.height, 1, PixelType::u8);
  LoadedImage marked = drawn(1);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const auto i = static_cast<std::size_t>(y * shape.width + x);
      const bool hidden = x >= 90 && x < 130 && y >= 60 && y < 100;
      mask.samples<std::uint8_t>()[i] = hidden ? 0 : 255;
      // A label of stripes.
      if (hidden) marked.samples<std::uint16_t>()[i] = x / 4 % 2 == 0 ? 65535 : 0;
    }
  }
  save_image(pair.reference, marked);
  save_image(folder / "mask.png", mask);
  const Outcome outcome = pair.run(
      {"--reference-mask", folder / "mask.png", "--field", folder / "field.npy", "--json"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  // Beneath the label, the field is only smooth: 40 pixels of its waves of 120.
  CHECK(field_error(load_npy(folder / "field.npy")) < 0.3);
  REQUIRE(pair.run({"--field", folder / "without.npy"}).status == 0);
  CHECK(field_error(load_npy(folder / "field.npy")) <
        0.5 * field_error(load_npy(folder / "without.npy")));
}

TEST_CASE("register: a flat region is marked as undetermined") {
  require_test_device();
  Pair pair;
  for (const double share : {1.0, 0.0}) {
    LoadedImage image = drawn(share);
    for (std::int64_t y = 80; y < 130; ++y) {
      const auto row = image.samples<std::uint16_t>().begin() + y * shape.width;
      std::fill(row + 90, row + 150, std::uint16_t{30000});
    }
    save_image(share > 0 ? pair.reference : pair.moving, image);
  }
  const ScratchFolder& folder = pair.folder;
  REQUIRE(pair.run({"--agreement", folder / "agreement.npy"}).status == 0);
  const auto at = [values = load_npy(folder / "agreement.npy")](std::int64_t x, std::int64_t y) {
    return values.samples<float>()[static_cast<std::size_t>(y * shape.width + x)];
  };
  CHECK(std::isnan(at(120, 105)));
  CHECK(!std::isnan(at(60, 105)));
}

TEST_CASE("register-volume: the maps of a deformation are written") {
  require_test_device();
  const ScratchFolder folder;
  constexpr std::int64_t side = 32;
  const auto volume = [&](double share) {
    Array array = make_array({side, side, side}, PixelType::f32);
    const Texture texture;
    for (std::int64_t i = 0; i < side * side * side; ++i) {
      const double x = static_cast<double>(i % side) +
                       share * std::sin(0.2 * static_cast<double>(i / side % side));
      const double y = static_cast<double>(i / side % side);
      const double z = static_cast<double>(i / (side * side));
      array.samples<float>()[static_cast<std::size_t>(i)] = static_cast<float>(
          texture({4 * x, 4 * y}) + texture({4 * y, 4 * z}) + texture({4 * z, 4 * x}));
    }
    return array;
  };
  save_npy(folder / "reference.npy", volume(1));
  save_npy(folder / "moving.npy", volume(0));
  const Outcome outcome =
      run_program({"register-volume", folder / "reference.npy", folder / "moving.npy", "--motion",
                   "deformable", "--device", test_device(), "--json", "--jacobian",
                   folder / "jacobian.npy", "--agreement", folder / "agreement.npy"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  const json report = json::parse(outcome.out);
  const Array jacobian = load_npy(folder / "jacobian.npy");
  CHECK(jacobian.extents == std::vector<std::int64_t>{side, side, side});
  const auto [least, most] = std::ranges::minmax_element(jacobian.samples<float>());
  CHECK(std::abs(*least - report["deformation"]["min_jacobian"].get<double>()) < 1e-4);
  CHECK(load_npy(folder / "agreement.npy").extents == jacobian.extents);
}

TEST_CASE("register: options that contradict deformable motion are refused") {
  require_test_device();
  const Pair pair;
  CHECK(pair.run({"--modality", "other"}).status == 2);
  CHECK(pair.run({"--no-refine"}).status == 2);
  CHECK(pair.run({"--candidates", "3"}).status == 2);
  CHECK(pair.run({"--fast"}).status == 2);
  CHECK(pair.run({"--window", "64"}).status == 2);
  CHECK(pair.run({"--field", pair.folder / "field.png"}).status == 2);
  CHECK(pair.run({"--jacobian", pair.folder / "map.tif"}).status == 2);
  CHECK(pair.run({"--agreement", pair.reference}).status == 2);
  for (const char* option : {"--field", "--jacobian", "--agreement"}) {
    CHECK(run_program({"register", pair.reference, pair.moving, option, "map.npy"}).status == 2);
  }
  CHECK(run_program({"stack", pair.reference, pair.moving, "--motion", "deformable"}).status == 2);
}

}  // namespace warpalign::test
