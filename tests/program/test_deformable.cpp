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

TEST_CASE("register: pixels of the nodata value do not change a deformation") {
  require_test_device();
  const Pair pair;
  const ScratchFolder& folder = pair.folder;
  // Stripes of 0, at the same pixels of both images: as content they would hold the field.
  const auto is_hidden = [](std::int64_t x, std::int64_t y) {
    return x >= 90 && x < 140 && y >= 60 && y < 110 && x % 8 < 6;
  };
  for (const double share : {1.0, 0.0}) {
    LoadedImage image = drawn(share);
    for (std::int64_t y = 0; y < shape.height; ++y) {
      for (std::int64_t x = 0; x < shape.width; ++x) {
        auto& pixel = image.samples<std::uint16_t>()[static_cast<std::size_t>(y * shape.width + x)];
        pixel = is_hidden(x, y) ? std::uint16_t{0} : std::max(pixel, std::uint16_t{1});
      }
    }
    save_image(share > 0 ? pair.reference : pair.moving, image);
  }
  const Outcome outcome =
      pair.run({"--nodata", "0", "--field", folder / "field.npy", "--output", folder / "out.png",
                "--agreement", folder / "agreement.npy", "--json"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  const json report = json::parse(outcome.out);
  std::int64_t hidden = 0;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) hidden += is_hidden(x, y) ? 1 : 0;
  }
  CHECK(report["missing"]["reference"] == hidden);
  CHECK(report["missing"]["moving"] == hidden);
  // Beneath the stripes, the field is only smooth: 50 pixels of its waves of 120.
  CHECK(field_error(load_npy(folder / "field.npy")) < 0.3);
  REQUIRE(pair.run({"--field", folder / "without.npy"}).status <= 1);
  CHECK(field_error(load_npy(folder / "field.npy")) <
        0.5 * field_error(load_npy(folder / "without.npy")));

  // The stripes stay missing in the output, bent by up to 2.5 pixels, and nowhere else.
  const LoadedImage aligned = load_image(folder / "out.png");
  const Array agreement = load_npy(folder / "agreement.npy");
  std::int64_t missing = 0, known_beneath = 0;
  for (std::int64_t y = 12; y < shape.height - 12; ++y) {
    for (std::int64_t x = 12; x < shape.width - 12; ++x) {
      const auto i = static_cast<std::size_t>(y * shape.width + x);
      if (is_hidden(x, y) && !std::isnan(agreement.samples<float>()[i])) ++known_beneath;
      if (aligned.samples<std::uint16_t>()[i] != 0) continue;
      ++missing;
      CHECK((x >= 86 && x < 144 && y >= 56 && y < 114));
    }
  }
  CHECK(known_beneath == 0);
  CHECK(missing > hidden / 2);
  CHECK(missing < 2 * hidden);
  CHECK(pair.run({"--nodata", "0.5"}).err.find("no sample") != std::string::npos);
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

/// A volume of textures, displaced along x by a share of waves of 1 voxel.
Array drawn_volume(std::int64_t side, double share) {
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
}

/// Files of a volume and of a bent one.
struct BentVolumes {
  explicit BentVolumes(std::int64_t side) {
    save_npy(folder / "reference.npy", drawn_volume(side, 1));
    save_npy(folder / "moving.npy", drawn_volume(side, 0));
  }
  ScratchFolder folder;
};

TEST_CASE("register-volume: the maps of a deformation are written") {
  require_test_device();
  constexpr std::int64_t side = 32;
  const BentVolumes volumes(side);
  const ScratchFolder& folder = volumes.folder;
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

TEST_CASE("register-volume --initial identity: a deformation begins at the same voxels") {
  require_test_device();
  const BentVolumes volumes(32);
  const ScratchFolder& folder = volumes.folder;
  const Outcome outcome =
      run_program({"register-volume", folder / "reference.npy", folder / "moving.npy", "--motion",
                   "deformable", "--device", test_device(), "--json", "--initial", "identity"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  const json report = json::parse(outcome.out);
  CHECK(report["matrix"][0] == json{1.0, 0.0, 0.0, 0.0});
  CHECK(report["deformation"]["correlation"].get<double>() > 0.9);
}

TEST_CASE("register-volume: voxels of the nodata value do not change a deformation") {
  require_test_device();
  const ScratchFolder folder;
  constexpr std::int64_t side = 40;
  constexpr float nodata = -9999;
  const auto is_hidden = [](std::size_t i) {
    const auto x = static_cast<std::int64_t>(i) % side;
    const auto y = static_cast<std::int64_t>(i) / side % side;
    const auto z = static_cast<std::int64_t>(i) / (side * side);
    return x >= 14 && x < 24 && y >= 12 && y < 24 && z >= 10 && z < 26 && x % 4 < 3;
  };
  std::int64_t hidden = 0;
  for (const double share : {1.0, 0.0}) {
    Array volume = drawn_volume(side, share);
    hidden = 0;
    for (std::size_t i = 0; i < volume.samples<float>().size(); ++i) {
      if (!is_hidden(i)) continue;
      volume.samples<float>()[i] = nodata;
      ++hidden;
    }
    save_npy(folder / (share > 0 ? "reference.npy" : "moving.npy"), volume);
  }
  const Outcome outcome = run_program(
      {"register-volume", folder / "reference.npy", folder / "moving.npy", "--motion", "deformable",
       "--nodata", "-9999", "--device", test_device(), "--json", "--field", folder / "field.npy",
       "--output", folder / "out.npy", "--agreement", folder / "agreement.npy"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  const json report = json::parse(outcome.out);
  CHECK(report["missing"]["reference"] == hidden);
  CHECK(report["missing"]["moving"] == hidden);
  const Array field = load_npy(folder / "field.npy", 4);
  const Array aligned = load_npy(folder / "out.npy");
  const Array agreement = load_npy(folder / "agreement.npy");
  double squares = 0, count = 0;
  std::int64_t missing = 0, known_beneath = 0;
  for (std::size_t i = 0; i < aligned.samples<float>().size(); ++i) {
    const auto y = static_cast<std::int64_t>(i) / side % side;
    if (aligned.samples<float>()[i] == nodata) ++missing;
    // The mean of known and missing voxels would lie between: the texture is below 3 in size.
    if (aligned.samples<float>()[i] != nodata) CHECK(std::abs(aligned.samples<float>()[i]) < 10);
    const auto x = static_cast<std::int64_t>(i) % side;
    const auto z = static_cast<std::int64_t>(i) / (side * side);
    if (std::min({x, y, z}) < 6 || std::max({x, y, z}) >= side - 6) continue;
    const double u = field.samples<float>()[i];
    squares += std::pow(u - std::sin(0.2 * static_cast<double>(y)), 2);
    count += 1;
    if (is_hidden(i) && !std::isnan(agreement.samples<float>()[i])) ++known_beneath;
  }
  CHECK(std::sqrt(squares / count) < 0.2);  // of waves of 1 voxel
  CHECK(known_beneath == 0);
  CHECK(missing > hidden / 2);
  CHECK(missing < 2 * hidden);
}

TEST_CASE("register: a larger bending weight or grid makes the field smoother") {
  require_test_device();
  const Pair pair;
  const auto roughness = [&](std::vector<std::string> options) {
    options.insert(options.end(), {"--field", pair.folder / "field.npy"});
    const Outcome outcome = pair.run(options);
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    const Array field = load_npy(pair.folder / "field.npy");
    const auto u = field.samples<float>();
    double sum = 0;
    for (std::size_t i = 1; i + 1 < u.size(); ++i) {
      const auto x = static_cast<std::int64_t>(i) % shape.width;
      if (x == 0 || x + 1 == shape.width) continue;
      sum += std::pow(static_cast<double>(u[i - 1] - 2 * u[i] + u[i + 1]), 2);
    }
    return sum;
  };
  const double usual = roughness({});
  for (const char* spacing : {"5", "0"}) {
    CHECK(roughness({"--grid-spacing", spacing, "--bending-weight", "0.5"}) == usual);
  }
  CHECK(roughness({"--bending-weight", "50"}) < 0.8 * usual);
  CHECK(roughness({"--grid-spacing", "80"}) < 0.8 * usual);
}

TEST_CASE("register, register-volume: grids that are impossible are refused") {
  require_test_device();
  const Pair pair;
  const auto refused = [&](const std::vector<std::string>& options, const std::string& text) {
    const Outcome outcome = pair.run(options);
    CHECK(outcome.status == 2);
    CHECK(outcome.err.find(text) != std::string::npos);
  };
  for (const char* spacing : {"-4", "1.5", "nan", "1e9"}) {
    refused({"--grid-spacing", spacing}, "--grid-spacing");
  }
  refused({"--grid-spacing", "241"}, "longest side of the reference, 240 pixels");
  for (const char* weight : {"0", "-1", "1000", "inf"}) {
    refused({"--bending-weight", weight}, "--bending-weight");
  }
  for (const char* option : {"--grid-spacing", "--bending-weight"}) {
    const Outcome outcome = run_program({"register", pair.reference, pair.moving, option, "4"});
    CHECK(outcome.status == 2);
    CHECK(outcome.err.find("--motion deformable") != std::string::npos);
  }
  const ScratchFolder folder;
  Array volume = make_array({16, 16, 16}, PixelType::f32);
  save_npy(folder / "volume.npy", volume);
  const auto refused_volume = [&](const std::vector<std::string>& options,
                                  const std::string& text) {
    std::vector<std::string> all{"register-volume", folder / "volume.npy", folder / "volume.npy",
                                 "--spacing", "3,0.5,0.5"};
    all.insert(all.end(), options.begin(), options.end());
    const Outcome outcome = run_program(all);
    CHECK(outcome.status == 2);
    CHECK(outcome.err.find(text) != std::string::npos);
  };
  for (const char* spacing : {"0", "-1", "0.9", "48.5"}) {
    refused_volume({"--motion", "deformable", "--grid-spacing", spacing}, "must be from 1 mm");
  }
  refused_volume({"--motion", "deformable", "--bending-weight", "0"}, "--bending-weight");
  refused_volume({"--motion", "affine", "--grid-spacing", "5"}, "--motion deformable");
}

TEST_CASE("register: options that contradict deformable motion are refused") {
  require_test_device();
  const Pair pair;
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
}

namespace {

/// Frames, of which the first is the reference, and the third has no structure.
struct Frames {
  ScratchFolder folder;
  std::string file = folder / "frames.npy";

  Frames() {
    Array frames = make_array({4, shape.height, shape.width}, PixelType::u16);
    const auto pixels = static_cast<std::size_t>(shape.pixels());
    const auto put = [&](std::size_t frame, const LoadedImage& image) {
      std::ranges::copy(
          image.samples<std::uint16_t>(),
          frames.samples<std::uint16_t>().begin() + static_cast<std::ptrdiff_t>(frame * pixels));
    };
    put(0, drawn(1));
    put(1, drawn(0));
    put(3, drawn(0));
    save_npy(file, frames);
  }
  [[nodiscard]] Outcome run(const std::vector<std::string>& options) const {
    std::vector<std::string> arguments{"stack", file, "--device", test_device()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_program(arguments);
  }
  [[nodiscard]] Array load(const std::string& name) const { return load_npy(folder / name, 4); }
};

/// A frame of an array of fields.
Array field_of(const Array& fields, std::int64_t frame) {
  Array field = make_array({2, shape.height, shape.width}, PixelType::f32);
  const auto size = static_cast<std::ptrdiff_t>(2 * shape.pixels());
  std::copy_n(fields.samples<float>().begin() + frame * size, size, field.samples<float>().begin());
  return field;
}

bool is_unknown(const Array& field) {
  return std::ranges::all_of(field.samples<float>(), [](float value) { return std::isnan(value); });
}

}  // namespace

TEST_CASE("stack: deformations of frames are found, and their fields are written and applied") {
  require_test_device();
  const Frames frames;
  const ScratchFolder& folder = frames.folder;
  const Outcome outcome = frames.run({"--motion", "deformable", "--field", folder / "field.npy",
                                      "--output", folder / "flat.npy", "--json",
                                      folder / "flat.json", "--csv", folder / "flat.csv"});
  CAPTURE(outcome.out);
  CAPTURE(outcome.err);
  CHECK(outcome.status == 2);  // the third frame could not be used
  const Array fields = frames.load("field.npy");
  REQUIRE(fields.extents == std::vector<std::int64_t>{4, 2, shape.height, shape.width});
  const Array unmoved = field_of(fields, 0);
  CHECK(std::ranges::all_of(unmoved.samples<float>(), [](float value) { return value == 0; }));
  CHECK(field_error(field_of(fields, 1)) < 0.1);
  CHECK(is_unknown(field_of(fields, 2)));
  CHECK(field_error(field_of(fields, 3)) < 0.1);
  const json report = json::parse(read_text(folder / "flat.json"));
  CHECK(report["frames"][1]["reliable"] == true);
  // The fields are waves of 2.5 and 2 pixels.
  CHECK(report["frames"][1]["spread"].get<double>() == doctest::Approx(2.26).epsilon(0.1));
  CHECK(read_text(folder / "flat.csv").find(",spread\n") != std::string::npos);

  // The aligned frames are as the reference, away from the edges.
  const Array flat = frames.load("flat.npy");
  const auto values = flat.samples<std::uint16_t>();
  const auto pixels = static_cast<std::size_t>(shape.pixels());
  double largest = 0;
  for (std::int64_t y = 12; y < shape.height - 12; ++y) {
    for (std::int64_t x = 12; x < shape.width - 12; ++x) {
      const auto i = static_cast<std::size_t>(y * shape.width + x);
      largest = std::max(largest, std::abs(static_cast<double>(values[pixels + i]) -
                                           static_cast<double>(values[i])));
    }
  }
  CHECK(largest < 0.05 * 65535);

  // Applied to the same frames, the fields give the same pixels: one is the position of a double
  // precision transform rounded to f32, the other an f32 displacement added to the pixel.
  CHECK(frames.run({"--apply", folder / "field.npy", "--output", folder / "again.npy"}).status ==
        1);
  const Array again = frames.load("again.npy");
  REQUIRE(again.extents == flat.extents);
  const auto others = again.samples<std::uint16_t>();
  int difference = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    difference = std::max(difference, std::abs(int{values[i]} - int{others[i]}));
  }
  CHECK(difference <= 10);
  const Outcome refused =
      frames.run({"--apply", folder / "flat.json", "--output", folder / "no.npy"});
  CHECK(refused.status == 2);
  CHECK(refused.err.find("--field") != std::string::npos);
}

TEST_CASE("stack: shards of deformable motion are combined to the outputs of one run") {
  require_test_device();
  const Frames frames;
  const ScratchFolder& folder = frames.folder;
  const std::vector<std::string> options{"--motion", "deformable", "--output-folder",
                                         folder / "flat"};
  for (const char* shard : {"2/2", "1/2"}) {
    std::vector<std::string> one = options;
    one.insert(one.end(), {"--shard", shard});
    CHECK(frames.run(one).status <= 2);
  }
  std::vector<std::string> combined = options;
  combined.insert(combined.end(), {"--resume", "--field", folder / "field.npy"});
  const Outcome outcome = frames.run(combined);
  CAPTURE(outcome.err);
  CHECK(outcome.status == 2);
  REQUIRE(frames.run({"--motion", "deformable", "--field", folder / "whole.npy"}).status == 2);
  // Bitwise, because NaN differs from itself.
  CHECK(frames.load("field.npy").bytes == frames.load("whole.npy").bytes);
}

TEST_CASE("stack: the mean of deformed frames is a reference") {
  require_test_device();
  const Frames frames;
  const ScratchFolder& folder = frames.folder;
  REQUIRE(frames.run({"--motion", "deformable", "--to", "mean", "--field", folder / "field.npy"})
              .status == 2);
  CHECK(field_error(field_of(frames.load("field.npy"), 3)) < 0.1);
}

TEST_CASE("stack: what deformable motion does not support is refused") {
  require_test_device();
  const Frames frames;
  const auto refused = [&](const std::vector<std::string>& options, const std::string& text) {
    CAPTURE(text);
    const Outcome outcome = frames.run(options);
    CHECK(outcome.status == 2);
    CHECK(outcome.err.find(text) != std::string::npos);
  };
  const std::string motion = "--motion";
  const std::string deformable = "deformable";
  refused({motion, deformable, "--to", "previous"}, "--to previous");
  refused({motion, deformable, "--no-refine"}, "--no-refine");
  refused({motion, deformable, "--field", "field.tif"}, "--field");
  refused({motion, "rigid", "--field", frames.folder / "field.npy"}, "--field");
  refused({motion, "rigid", "--grid-spacing", "8"}, "--grid-spacing");
  // Fields of another shape, of another number of frames, and files that are none.
  const auto save = [&](const std::string& name, const std::vector<std::int64_t>& extents) {
    save_npy(frames.folder / name, make_array(extents, PixelType::f32));
    return frames.folder / name;
  };
  const std::string small = save("small.npy", {4, 2, shape.height, shape.width - 1});
  refused({"--apply", small, "--output", frames.folder / "no.npy"}, "small.npy");
  const std::string few = save("few.npy", {3, 2, shape.height, shape.width});
  refused({"--apply", few, "--output", frames.folder / "no.npy"}, "3 frames");
  const std::string three = save("three.npy", {4, 3, shape.height, shape.width});
  refused({"--apply", three, "--output", frames.folder / "no.npy"}, "three.npy");
  refused({"--apply", few, "--crop-at", "1,1", "--output", frames.folder / "no.npy"}, "--crop-at");
  CHECK(!std::filesystem::exists(frames.folder / "no.npy"));
}

}  // namespace warpalign::test
