// `warpalign warm-up`: what it compiles, and its messages when it cannot.
#include "io/image_file.hpp"
#include "program/picture.hpp"
#include "program/run_program.hpp"

#include <warpalign/geometry.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

namespace warpalign::test {
namespace {

using namespace program;

/// A separate cache of the library; PoCL's cache remains that of the whole suite.
class OwnCache {
 public:
  OwnCache() : before_(std::getenv("XDG_CACHE_HOME") ? std::getenv("XDG_CACHE_HOME") : "") {
    ::setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
  }
  OwnCache(const OwnCache&) = delete;
  OwnCache& operator=(const OwnCache&) = delete;
  ~OwnCache() {
    before_.empty() ? ::unsetenv("XDG_CACHE_HOME") : ::setenv("XDG_CACHE_HOME", before_.c_str(), 1);
  }

  [[nodiscard]] std::set<std::string> entries() const {
    std::set<std::string> names;
    const std::filesystem::path cache = folder_ / "cache/warpalign";
    if (!std::filesystem::exists(cache)) return names;
    for (const auto& entry : std::filesystem::directory_iterator(cache)) {
      names.insert(entry.path().filename());
    }
    return names;
  }

 private:
  ScratchFolder folder_;
  std::string before_;
};

TEST_CASE("after warm-up a first registration and a first resampling compile nothing") {
  require_test_device();
  const OwnCache cache;
  const Outcome outcome = run_program({"warm-up", "--device", test_device()});
  REQUIRE(outcome.status == 0);
  CHECK(outcome.err.empty());
  CHECK(outcome.out.find("is ready") != std::string::npos);
  const std::set<std::string> ready = cache.entries();

  const ScratchFolder folder;
  const Shape shape{300, 280, 1};
  const Affine matrix = Similarity{14, 1.12, {6.5, -9.25}}.matrix(shape, shape);
  for (const PixelType type : {PixelType::u8, PixelType::u16}) {
    save_image(folder / "a.png", draw({}, shape, 1, type));
    save_image(folder / "b.png", draw({}, shape, 1, type, matrix.inverse()));
    CHECK(run_program({"register", folder / "a.png", folder / "b.png", "--device", test_device(),
                       "--output", folder / "c.png"})
              .status == 0);
    CHECK(run_program({"resample", folder / "a.png", folder / "d.png", "--device", test_device(),
                       "--rotate", "30"})
              .status == 0);
  }
  // A device without compilation at run time, such as CUDA's, stores nothing either.
  CHECK(cache.entries() == ready);
}

TEST_CASE("warm-up of a missing device prints one line, and writes nothing") {
  const OwnCache cache;
  const Outcome outcome = run_program({"warm-up", "--device", "opencl:99"});
  CHECK(outcome.status == 3);
  CHECK(outcome.out.empty());
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK(outcome.err.starts_with("warpalign: "));
  CHECK(cache.entries().empty());
}

TEST_CASE("warm-up refuses an unknown part") {
  require_test_device();
  for (const char* part : {"2/2:u8", "0/1:f16", "0/1", "0/1:u8x"}) {
    const Outcome outcome = run_program({"warm-up", "--device", test_device(), "--part", part});
    CHECK(outcome.status == 2);
    CHECK(outcome.err.starts_with("warpalign: "));
  }
}

}  // namespace
}  // namespace warpalign::test
