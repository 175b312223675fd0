// `register` and `register-volume` with deformable motion, on images drawn with a known field.
#include "io/image_file.hpp"
#include "program/arrays.hpp"
#include "program/picture.hpp"
#include "program/run_program.hpp"

#include <doctest/doctest.h>

#include <cmath>
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
  CHECK(load_image(folder / "overlay.png").width > 2 * shape.width);
}

TEST_CASE("register: options that contradict deformable motion are refused") {
  require_test_device();
  const Pair pair;
  CHECK(pair.run({"--modality", "other"}).status == 2);
  CHECK(pair.run({"--no-refine"}).status == 2);
  CHECK(pair.run({"--candidates", "3"}).status == 2);
  CHECK(pair.run({"--fast"}).status == 2);
  CHECK(pair.run({"--window", "64"}).status == 2);
  CHECK(pair.run({"--reference-mask", pair.reference}).status == 2);
  CHECK(pair.run({"--field", pair.folder / "field.png"}).status == 2);
  CHECK(run_program({"register", pair.reference, pair.moving, "--field", "field.npy"}).status == 2);
  CHECK(run_program({"stack", pair.reference, pair.moving, "--motion", "deformable"}).status == 2);
}

}  // namespace warpalign::test
