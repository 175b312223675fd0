// `register` and `register-volume` with --initial: matrices from JSON, and point pairs from CSV.
#include "io/image_file.hpp"
#include "io/initial_file.hpp"
#include "program/picture.hpp"
#include "program/run_program.hpp"
#include "support/corners.hpp"

#include <warpalign/geometry.hpp>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>

namespace warpalign::test {
namespace {

using namespace program;
using nlohmann::json;

const Shape shape{240, 220, 1};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Waves of period 24 along x and 20 along y.
LoadedImage lattice(Point shift) {
  LoadedImage image = make_image(shape.width, shape.height, 1, PixelType::f32);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const double u = (static_cast<double>(x) - shift.x) * 2 * std::numbers::pi / 24;
      const double v = (static_cast<double>(y) - shift.y) * 2 * std::numbers::pi / 20;
      image.samples<float>()[static_cast<std::size_t>(y * shape.width + x)] = static_cast<float>(
          std::cos(u) + std::sin(v) + 0.5 * std::cos(2 * u + v) + 0.3 * std::sin(u - 2 * v));
    }
  }
  return image;
}

struct Pair {
  ScratchFolder folder;
  std::string initial = folder / "initial";

  Pair(const LoadedImage& reference, const LoadedImage& moving) {
    save_image(folder / "a.tif", reference);
    save_image(folder / "b.tif", moving);
  }
  [[nodiscard]] Outcome run(const std::string& text, std::vector<std::string> more = {}) const {
    write_text(initial, text);
    std::vector<std::string> arguments{"register",  folder / "a.tif", folder / "b.tif",
                                       "--device",  test_device(),    "--json",
                                       "--initial", initial};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  }
};

TEST_CASE("register --initial: of equal shifts the nearest is the answer") {
  require_test_device();
  const Pair pair(lattice({}), lattice({5, -4}));
  for (const Point answer : {Point{5, -4}, Point{29, -4}, Point{5, 16}}) {
    CAPTURE(answer.x);
    CAPTURE(answer.y);
    const std::string rough =
        fmt::format(R"({{"matrix": [[1, 0, {}], [0, 1, {}]]}})", answer.x + 3, answer.y - 2);
    const std::string points =
        fmt::format("x,y,x2,y2\n100,50,{},{}\n", 100 + answer.x - 2, 50 + answer.y + 3);
    for (const std::string& text : {rough, points}) {
      const Outcome outcome = pair.run(text, {"--motion", "translation"});
      CAPTURE(outcome.err);
      CHECK(outcome.status == 0);
      const json report = json::parse(outcome.out);
      CHECK(report["status"] == "ok");
      // Without noise the fit alone remains.
      CHECK(std::abs(report["translation"][0].get<double>() - answer.x) < 0.02);
      CHECK(std::abs(report["translation"][1].get<double>() - answer.y) < 0.02);
    }
  }
}

TEST_CASE("register --initial identity: of equal shifts the smallest is the answer") {
  require_test_device();
  const Pair pair(lattice({}), lattice({5, -4}));
  const Outcome outcome =
      run_program({"register", pair.folder / "a.tif", pair.folder / "b.tif", "--device",
                   test_device(), "--json", "--motion", "translation", "--initial", "identity"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  const json report = json::parse(outcome.out);
  CHECK(report["proposed_by"] == "initial");
  CHECK(std::abs(report["translation"][0].get<double>() - 5) < 0.02);
  CHECK(std::abs(report["translation"][1].get<double>() + 4) < 0.02);
}

TEST_CASE("register --initial: a former report leads to the same answer") {
  require_test_device();
  const Similarity truth{14, 1.12, {6.5, -9.25}};
  const Affine matrix = truth.matrix(shape, shape);
  const Pair pair(draw({}, shape, 1, PixelType::f32),
                  draw({}, shape, 1, PixelType::f32, matrix.inverse()));
  const Outcome first = pair.run("[[1, 0, 0], [0, 1, 0]]");
  REQUIRE(first.status == 0);
  for (const std::string motion : {"similarity", "affine"}) {
    const Outcome again = pair.run(first.out, {"--motion", motion});
    CHECK(again.status == 0);
    const json report = json::parse(again.out);
    CHECK(report["proposed_by"] == "initial");
    const auto& m = report["matrix"];
    const Affine found{m[0][0], m[0][1], m[0][2], m[1][0], m[1][1], m[1][2]};
    // The requirement for the 95th percentile of clean pairs.
    CHECK(::test::max_corner_distance(found, matrix, shape) < 0.02);
  }
  std::string points;
  for (const Point p : {Point{20, 30}, Point{200, 40}, Point{60, 190}}) {
    const Point q = matrix(p);
    points += fmt::format("{} {} {:.0f} {:.0f}\n", p.x, p.y, q.x, q.y);
  }
  CHECK(json::parse(pair.run(points).out)["proposed_by"] == "initial");
}

TEST_CASE("register --initial: wrong files and transforms are refused") {
  require_test_device();
  const Pair pair(lattice({}), lattice({5, -4}));
  const auto refused = [&](const std::string& text, const std::string& why,
                           const std::vector<std::string>& more = {}) {
    const Outcome outcome = pair.run(text, more);
    CAPTURE(text);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CHECK(contains(outcome.err, why));
    CHECK(contains(outcome.err, "initial"));
  };
  refused("{", "is not valid JSON");
  refused("{}", "has no matrix");
  refused("[[1, 0], [0, 1]]", "has no matrix");
  refused("[[1, 0, \"a\"], [0, 1, 0]]", "has no matrix");
  refused("[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]", "has no matrix");
  refused("x,y\n1,2,3\n", "line 2 is not 4 numbers");
  refused("x,y,u,v\n", "contains no points");
  refused("1,2,3,4\n1,2,3,4\n", "all the same point");
  refused("1,1,1,1\n2,2,2,2\n3,3,3,3\n", "lie on a line", {"--motion", "affine"});
  refused("[[1, 0, 0], [0, -1, 219]]", "mirrors");
  refused("[[1, 2, 0], [2, 4, 0]]", "singular");
  refused("[[1, 0, 500], [0, 1, 0]]", "puts the images apart");
  refused("[[1, 0, 50], [0, 1, 0]]", "options exclude", {"--max-shift", "10"});
  refused("[[1, 0, 0], [0, 1, 0]]", "--fast", {"--fast"});
  refused("[[1, 0, 0], [0, 1, 0]]", "--initial", {"--motion", "local"});
  const Outcome missing = run_program({"register", pair.folder / "a.tif", pair.folder / "b.tif",
                                       "--initial", pair.folder / "missing.json"});
  CHECK(missing.status == 2);
  CHECK(contains(missing.err, "missing.json"));
}

/// Frames of the lattice that drift by a third of a period, which the frame before does not decide.
struct Stack {
  ScratchFolder folder;
  std::string frames = folder / "frames";
  std::string initial = folder / "initial";
  static constexpr Point step{8, -7};

  Stack() {
    std::filesystem::create_directory(frames);
    for (int i = 0; i < 4; ++i) {
      save_image(fmt::format("{}/{}.tif", frames, i), lattice({i * step.x, i * step.y}));
    }
  }
  [[nodiscard]] std::vector<std::string> arguments(std::vector<std::string> more) const {
    std::vector<std::string> all{"stack",    frames,        "--device", test_device(),
                                 "--motion", "translation", "--json",   folder / "out.json"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  /// A drift with this error, as an earlier run would have written it.
  [[nodiscard]] static json drift(Point error, int frames = 4) {
    json all = {
        {"width", shape.width}, {"height", shape.height}, {"ok", true}, {"frames", json::array()}};
    for (int i = 0; i < frames; ++i) {
      all["frames"].push_back({{"frame", i},
                               {"status", "ok"},
                               {"reliable", true},
                               {"confidence", 1},
                               {"correlation", 1},
                               {"overlap", 1},
                               {"significance", 100},
                               {"matrix",
                                {{1, 0, i * step.x + (i > 0 ? error.x : 0)},
                                 {0, 1, i * step.y + (i > 0 ? error.y : 0)}}}});
    }
    return all;
  }
};

TEST_CASE("stack --initial: each frame looks near the transform of an earlier run") {
  require_test_device();
  const Stack stack;
  write_text(stack.initial, Stack::drift({3, 2}).dump());
  const auto shift_of = [&](std::size_t frame) {
    const json report = json::parse(read_text(stack.folder / "out.json"));
    const json& found = report["frames"][frame];
    CHECK(found["status"] == "ok");
    return Point{found["matrix"][0][2], found["matrix"][1][2]};
  };
  CHECK(run_program(stack.arguments({})).status == 1);  // the frames are ambiguous
  for (const char* to : {"first", "previous", "mean", "2"}) {
    CAPTURE(to);
    const Outcome outcome = run_program(stack.arguments({"--initial", stack.initial, "--to", to}));
    CAPTURE(outcome.err);
    CHECK(outcome.status == 0);
    const double origin = std::string(to) == "2" ? 2 : 0;
    for (std::size_t i = 0; i < 4; ++i) {
      CAPTURE(i);
      const double steps = static_cast<double>(i) - origin;
      // Without noise the fit alone remains; the mean is resampled by splines.
      CHECK(std::abs(shift_of(i).x - steps * Stack::step.x) < 0.05);
      CHECK(std::abs(shift_of(i).y - steps * Stack::step.y) < 0.05);
    }
  }
  // One transform for all frames: the first frame is at it, not at the smallest motion.
  write_text(stack.initial, "[[1, 0, 31], [0, 1, -9]]");
  std::filesystem::remove(stack.frames + "/2.tif");
  std::filesystem::remove(stack.frames + "/3.tif");
  CHECK(run_program(stack.arguments({"--initial", stack.initial})).status == 0);
  CHECK(std::abs(shift_of(1).x - 32) < 0.05);
  CHECK(std::abs(shift_of(1).y + 7) < 0.05);
}

TEST_CASE("stack --initial identity: each frame looks near its own pixels") {
  require_test_device();
  const ScratchFolder folder;
  save_image(folder / "0.tif", lattice({}));
  save_image(folder / "1.tif", lattice({5, -4}));
  const Outcome outcome =
      run_program({"stack", folder / "0.tif", folder / "1.tif", "--device", test_device(),
                   "--motion", "translation", "--initial", "identity", "--json", folder / "d.json",
                   "--output", folder / "o.tif", "--resume"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  std::ifstream file(folder / "d.json");
  const json frame = json::parse(file)["frames"][1];
  CHECK(std::abs(frame["translation"][0].get<double>() - 5) < 0.02);
  CHECK(std::abs(frame["translation"][1].get<double>() + 4) < 0.02);
}

TEST_CASE("stack --initial: wrong files and transforms are refused before anything is written") {
  require_test_device();
  const Stack stack;
  const auto refused = [&](const std::string& text, const std::string& why,
                           const std::vector<std::string>& more = {}) {
    write_text(stack.initial, text);
    std::vector<std::string> options{"--initial", stack.initial};
    options.insert(options.end(), more.begin(), more.end());
    const Outcome outcome = run_program(stack.arguments(options));
    CAPTURE(text);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, why));
    CHECK(contains(outcome.err, "initial"));
    CHECK_FALSE(std::filesystem::exists(stack.folder / "out.json"));
  };
  refused(Stack::drift({}, 3).dump(), "holds the transforms of 3 frames, and there are 4");
  json mirrored = Stack::drift({});
  mirrored["frames"][2]["matrix"] = {{-1, 0, 219}, {0, 1, 0}};
  refused(mirrored.dump(), "frame 2: the initial transform mirrors");
  json far = Stack::drift({});
  far["frames"][3]["matrix"] = {{1, 0, 500}, {0, 1, 0}};
  refused(far.dump(), "puts the images apart");
  json larger = Stack::drift({});
  larger["width"] = 300;
  refused(larger.dump(), "holds transforms of frames of");
  refused("[[1, 2, 0], [2, 4, 0]]", "singular");
  refused("[[1, 0, 0], [0, 1, 0], [0.001, 0, 1]]", "is projective");
  refused("{}", "has no matrix");
  refused("[[1, 0, 40], [0, 1, 0]]", "options exclude", {"--max-shift", "30,20"});
  write_text(stack.initial, "[[1, 0, 0], [0, 1, 0]]");
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{"--fast"}, {"--motion", "local"}}) {
    std::vector<std::string> arguments{
        "stack",    stack.frames,  "--initial", stack.initial,
        "--device", test_device(), "--csv",     stack.folder / "out.csv"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run_program(arguments);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, "--initial"));
    CHECK_FALSE(std::filesystem::exists(stack.folder / "out.csv"));
  }
}

TEST_CASE("initial file: JSON and points") {
  const InitialFile matrix = parse_initial(R"({"a": 1, "matrix": [[1,0,2],[0,1,3]]})", 2, "f");
  REQUIRE(matrix.matrix.size() == 2);
  CHECK(matrix.matrix[1][2] == 3);
  CHECK(matrix.points.empty());
  const InitialFile points = parse_initial("a b c d\r\n1;2;3;4\r\n\r\n 5,6\t7,8e1", 2, "f");
  REQUIRE(points.points.size() == 2);
  CHECK(points.points[1][3] == 80);
  CHECK(parse_initial("1 2 3 4 5 6", 3, "f").points.size() == 1);
  CHECK_THROWS_AS((void)parse_initial("1,2,3,nan", 2, "f"), FileError);
  CHECK_THROWS_AS((void)parse_initial("", 2, "f"), FileError);
}

}  // namespace
}  // namespace warpalign::test
