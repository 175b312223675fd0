// Compares the kernels that helper processes compile for a registration with those that
// registrations use. PoCL keeps a file for each kernel and work-group size that was launched: the
// tests read these files.
#include "io/image_file.hpp"
#include "program/run_program.hpp"
#include "support/skipped.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace warpalign::test {
namespace {

using namespace program;

/// Sets an environment variable for a scope.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

/// Empty caches for the programs that start within a scope.
class EmptyCaches {
 public:
  [[nodiscard]] std::set<std::string> kernels() const {
    std::set<std::string> found;
    const std::filesystem::path root = folder_ / "pocl";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.path().extension() != ".so") continue;
      // KERNEL/SIZE, where SIZE is the work-group's, without the folders that identify the
      // program.
      const auto path = entry.path().lexically_relative(root);
      const auto size = path.parent_path();
      const auto kernel = size.parent_path();
      if (kernel.parent_path().empty()) continue;  // PoCL has not renamed it yet
      found.insert(kernel.filename().string() + " " + size.filename().string() + " of " +
                   kernel.parent_path().string());
    }
    return found;
  }

  /// The programs in our cache that are stored as PoCL's binaries.
  [[nodiscard]] std::size_t binaries() const { return files_with("poclbin"); }
  /// The programs in our cache that only PoCL's own cache has.
  [[nodiscard]] std::size_t programs_without_binary() const {
    return files_with("kept by the platform");
  }
  void clear_pocl() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "pocl")) {
      std::filesystem::remove_all(entry.path());
    }
  }

 private:
  [[nodiscard]] std::size_t files_with(const std::string& word) const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "ours/warpalign")) {
      if (read_text(entry.path()).find(word) != std::string::npos) ++count;
    }
    return count;
  }

  static std::string made(const std::string& path) {
    std::filesystem::create_directory(path);
    return path;
  }

  ScratchFolder folder_;
  Variable ours_{"XDG_CACHE_HOME", made(folder_ / "ours")};
  Variable of_pocl_{"POCL_CACHE_DIR", made(folder_ / "pocl")};
};

std::string lines(const std::set<std::string>& all, const std::set<std::string>& without) {
  std::string text;
  for (const std::string& name : all) {
    if (without.find(name) == without.end()) text += "\n  " + name;
  }
  return text;
}

/// An image of `side` pixels, which shows the scene from (x, y) on: squares that fade into noise.
LoadedImage noisy_picture(std::int64_t side, std::int64_t x, std::int64_t y, unsigned seed) {
  std::mt19937 noise(seed);
  LoadedImage image;
  image.width = image.height = side;
  for (std::int64_t v = y; v < y + side; ++v) {
    for (std::int64_t u = x; u < x + side; ++u) {
      std::mt19937 square(static_cast<unsigned>(u / 10 + 1000 * (v / 10)));
      const double level = static_cast<double>(square() % 64) - 32;
      double sum = 128 + level;
      for (int i = 0; i < 4; ++i) sum += static_cast<double>(noise() % 104) - 51.5;
      image.pixels.push_back(static_cast<std::byte>(std::clamp(sum, 0.0, 255.0)));
    }
  }
  return image;
}

/// A mask in which all pixels count.
LoadedImage mask_of(const std::string& file) {
  LoadedImage mask = load_image(file);
  mask.channels = 1;
  mask.pixels.assign(static_cast<std::size_t>(mask.width * mask.height), std::byte{255});
  return mask;
}

/// The kernels that a registration of these files uses.
std::set<std::string> used_by(const std::string& reference, const std::string& moving,
                              const std::vector<std::string>& options = {}) {
  const EmptyCaches caches;
  std::vector<std::string> arguments{"register", reference, moving, "--device", test_device()};
  arguments.insert(arguments.end(), options.begin(), options.end());
  REQUIRE(run_program(arguments).status <= 1);  // 1: not reliable
  return caches.kernels();
}

TEST_CASE("first use: helper processes compile what registrations use, and nothing else") {
  require_test_device();
  const Variable alone("LD_PRELOAD", WARPALIGN_NO_HELPERS);
  const ScratchFolder folder;
  const std::string reference = WARPALIGN_DEMO_DATA "/reference.jpg";
  const std::string moving = WARPALIGN_DEMO_DATA "/moving.jpg";
  std::set<std::string> needed = used_by(reference, moving);
  if (needed.empty()) return ::test::skip_case("only PoCL's cache tells which kernels were used");
  save_image(folder / "reference.png", mask_of(reference));
  save_image(folder / "moving.png", mask_of(moving));
  needed.merge(used_by(
      reference, moving,
      {"--reference-mask", folder / "reference.png", "--moving-mask", folder / "moving.png"}));

  const EmptyCaches caches;
  REQUIRE(run_program({"warm-up", "--device", test_device(), "--part", "0/1:u8"}).status == 0);
  const std::set<std::string> compiled = caches.kernels();
  CHECK_MESSAGE(lines(needed, compiled).empty(), "not compiled early:", lines(needed, compiled));

  // A pair that needs the null test.
  save_image(folder / "a.png", noisy_picture(256, 0, 0, 1));
  save_image(folder / "b.png", noisy_picture(256, 23, 11, 2));
  needed.merge(used_by(folder / "a.png", folder / "b.png"));
  CHECK_MESSAGE(lines(compiled, needed).empty(), "compiled but not used:", lines(compiled, needed));
}

TEST_CASE("first use: binaries are stored if PoCL compiles kernels for any size of work-group") {
  require_test_device();
  const EmptyCaches caches;
  const Variable any_size("POCL_WORK_GROUP_SPECIALIZATION", "0");
  const std::vector<std::string> arguments{"register",
                                           WARPALIGN_DEMO_DATA "/reference.jpg",
                                           WARPALIGN_DEMO_DATA "/moving.jpg",
                                           "--device",
                                           test_device(),
                                           "--json"};
  REQUIRE(run_program(arguments).status == 0);
  if (caches.kernels().empty()) return ::test::skip_case("only PoCL has this setting");
  CHECK(caches.binaries() > 10);
  CHECK(caches.programs_without_binary() == 0);
  // The binaries hold the kernels: PoCL's own cache is not needed.
  caches.clear_pocl();
  REQUIRE(run_program(arguments).status == 0);
  CHECK(caches.programs_without_binary() == 0);
}

}  // namespace
}  // namespace warpalign::test
