// `warpalign register-volume` end to end, on volumes with a known shift, and on invalid input.
#include "program/arrays.hpp"

#include "support/compare.hpp"
#include "support/volume_pairs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace warpalign::test {
namespace {

using namespace program;
using nlohmann::json;

// The largest error for clean volumes like these is 0.003 (test_volume_registrar.cpp).
constexpr double off = 0.003;

::test::VolumePairSpec shifted(bool unrelated = false) {
  ::test::VolumePairSpec spec;
  spec.reference = {32, 28, 24};
  spec.moving = {30, 32, 26};
  spec.shift = {4.3, -2.75, 1.5};
  spec.blob_sigma = 1.5;
  spec.unrelated = unrelated;
  return spec;
}

Array volume_of(const std::vector<float>& voxels, const Shape& shape) {
  return array_of({shape.depth, shape.height, shape.width}, voxels);
}

/// A pair in a folder.
struct Pair {
  ScratchFolder folder;
  ::test::VolumePairSpec spec;
  Array reference_volume;
  std::string reference = folder / "reference.npy";
  std::string moving = folder / "moving.npy";

  explicit Pair(const ::test::VolumePairSpec& of) : spec(of) {
    const auto pair = ::test::draw_pair(spec);
    reference_volume = volume_of(pair.reference, spec.reference);
    save_npy(reference, reference_volume);
    save_npy(moving, volume_of(pair.moving, spec.moving));
  }

  [[nodiscard]] Outcome run(const std::vector<std::string>& options) const {
    std::vector<std::string> arguments{"register-volume", reference, moving, "--device",
                                       test_device()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_program(arguments);
  }
};

TEST_CASE("register-volume: the JSON report, and nothing else is printed") {
  require_test_device();
  const Pair pair(shifted());
  const Outcome outcome = pair.run({"--json", "--max-shift", "10,8,6.5", "--timings"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  const json report = json::parse(outcome.out);
  CHECK(report.size() == 22);
  CHECK(report["status"] == "ok");
  REQUIRE(report["translation"].size() == 3);
  const Point3 found{report["translation"][0], report["translation"][1], report["translation"][2]};
  CHECK(::test::distance(found, pair.spec.shift) <= off);
  CHECK(report["confidence"].get<double>() >= 0.5);
  CHECK(report["overlap"].get<double>() > 0.4);
  CHECK(report["correlation"].get<double>() > 0.99);
  CHECK(report["significance"].get<double>() > 10);
  CHECK(report["refined"] == true);
  CHECK(report["device"] != "");
  CHECK(test_device().starts_with(report["backend"].get<std::string>()));
  CHECK(report["timings_ms"].contains("fft"));
}

TEST_CASE("register-volume: the moving volume on the reference's grid") {
  require_test_device();
  const Pair pair(shifted());
  const Outcome outcome = pair.run({"--output", pair.folder / "aligned.npy"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(outcome.out.starts_with("The volumes fit: translation (4.30"));
  const Array aligned = load_npy(pair.folder / "aligned.npy");
  REQUIRE(aligned.extents == pair.reference_volume.extents);
  // Well within both: a cubic spline of blobs of 1.5 voxels is off by a few thousandths of their
  // height (0.5). Voxels outside are 0.
  const auto a = aligned.samples<float>();
  const auto r = pair.reference_volume.samples<float>();
  ::test::WorstError worst;
  for (std::size_t z = 3; z < 20; ++z) {
    for (std::size_t y = 6; y < 25; ++y) {
      for (std::size_t x = 3; x < 22; ++x) {
        const std::size_t i = (z * 28 + y) * 32 + x;
        worst.add(std::abs(a[i] - r[i]));
      }
    }
  }
  CHECK(worst.value() <= 0.01);
  CHECK(a[31] == 0);
}

TEST_CASE("register-volume: unrelated volumes are unreliable, and the files are still written") {
  require_test_device();
  const Pair pair(shifted(true));
  const Outcome outcome = pair.run({"--json", "--output", pair.folder / "aligned.npy"});
  CAPTURE(outcome.out);
  CHECK(outcome.status == 1);
  CHECK(json::parse(outcome.out)["status"] == "unreliable");
  CHECK(load_npy(pair.folder / "aligned.npy").extents == pair.reference_volume.extents);
}

TEST_CASE("register-volume: wrong usage and invalid files give one line, and nothing is written") {
  require_test_device();
  const Pair pair(shifted());
  const auto names = pair.folder.names();
  check_refused(pair.run({"--max-shift", "0"}), 2, {"--max-shift"});
  check_refused(pair.run({"--max-shift", "1,2"}), 2, {"--max-shift"});
  check_refused(pair.run({"--max-shift", "1,-2,3"}), 2, {"--max-shift"});
  check_refused(pair.run({"--output", pair.folder / "out.png"}), 2, {"--output", ".npy"});
  check_refused(pair.run({"--output", pair.moving}), 2, {"--output"});
  CHECK(pair.folder.names() == names);

  const auto refused_moving = [&](const Array& moving, const std::vector<std::string>& words) {
    save_npy(pair.moving, moving);
    std::vector<std::string> all{"moving.npy"};
    all.insert(all.end(), words.begin(), words.end());
    check_refused(pair.run({"--json", "--output", pair.folder / "aligned.npy"}), 2, all);
    CHECK(pair.folder.names() == names);
  };
  refused_moving(random_array({24, 32}, PixelType::f32), {"2 dimensions"});
  refused_moving(random_array({7, 16, 16}, PixelType::u8), {"16 x 16 x 7"});
  refused_moving(random_array({16, 16, 16}, PixelType::c32), {"complex"});
  Array volume = random_array({16, 16, 16}, PixelType::f32);
  std::fill(volume.samples<float>().begin(), volume.samples<float>().end(), NAN);
  refused_moving(volume, {"no voxel to register"});
  std::fill(volume.samples<float>().begin(), volume.samples<float>().end(), 2.0F);
  refused_moving(volume, {"constant"});
  write_text(pair.moving, "no array");
  check_refused(pair.run({}), 2, {"moving.npy", ".npy"});
}

}  // namespace
}  // namespace warpalign::test
