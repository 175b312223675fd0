// An environment that somebody else has prepared: the current folder, variables, names, disks,
// other users' files, and a clock that runs backwards.
#include "io/image_file.hpp"
#include "program/disks.hpp"
#include "program/picture.hpp"
#include "program/run_program.hpp"
#include "support/skipped.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace warpalign::test {
namespace {

using namespace program;
namespace fs = std::filesystem;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void check_one_line(const Outcome& outcome) {
  CAPTURE(outcome.err);
  CHECK(outcome.err.starts_with("warpalign: "));
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
}

/// A folder of libraries with every name that the program might load.
class HostileFolder {
 public:
  HostileFolder() {
    for (const std::string name : {"warpalign_opencl.so", "warpalign_cuda.so", "warpalign_evil.so",
                                   "libwarpalign_opencl.so"}) {
      fs::copy_file(WARPALIGN_HOSTILE_MODULE, folder_ / name);
    }
  }

  /// Runs a script in this folder. Afterwards was_loaded() tells whether one of the libraries was
  /// loaded.
  Outcome run(const std::string& script) {
    fs::remove(trace());
    const Variable variable("WARPALIGN_TEST_TRACE", trace().c_str());
    return run_script(fmt::format("cd '{}' && {}", path(), script));
  }
  [[nodiscard]] bool was_loaded() const { return fs::exists(trace()); }
  [[nodiscard]] std::string path() const { return folder_ / ""; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return folder_ / name; }

 private:
  [[nodiscard]] std::string trace() const { return folder_ / "trace"; }

  ScratchFolder folder_;
};

TEST_CASE("surroundings: no backend is loaded from the current folder, PATH or LD_LIBRARY_PATH") {
  HostileFolder folder;
  // The libraries do work: a configuration that names the folder, which is trusted, loads one.
  write_text(folder / "trap.toml", fmt::format("modules = \"{}\"\n", folder.path()));
  CHECK(folder.run("\"$W\" devices --config trap.toml").status == 0);
  REQUIRE(folder.was_loaded());

  for (const std::string names : {"LD_LIBRARY_PATH=.", "LD_LIBRARY_PATH=", "PATH=.:\"$PATH\""}) {
    CAPTURE(names);
    const Outcome outcome = folder.run(names + " \"$W\" devices");
    CHECK(outcome.status == 0);
    CHECK_FALSE(folder.was_loaded());
  }
}

TEST_CASE(
    "surroundings: a folder of modules or kernels that depends on the current folder is refused") {
  HostileFolder folder;
  for (const std::string key : {"modules", "cache"}) {
    for (const std::string relative : {".", "sub/folder", "../x", "~"}) {
      CAPTURE(relative);
      write_text(folder / "relative.toml", fmt::format("{} = \"{}\"\n", key, relative));
      const Outcome outcome = folder.run("\"$W\" devices --config relative.toml");
      CHECK(outcome.status == 2);
      CHECK(contains(outcome.err, "must be an absolute path"));
      CHECK_FALSE(folder.was_loaded());
    }
  }
}

TEST_CASE("surroundings: a backend's name cannot lead to another folder") {
  HostileFolder folder;
  for (const std::string name : {"../evil", "/tmp/evil", "evil.so", "", "e vil", "evil\\u0000"}) {
    CAPTURE(name);
    write_text(folder / "names.toml", fmt::format("backends = [\"{}\"]\n", name));
    const Outcome outcome = folder.run("\"$W\" devices --config names.toml");
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, "'backends' must be a list of names"));
    CHECK_FALSE(folder.was_loaded());
  }
}

TEST_CASE("surroundings: variables that name odd devices give one line") {
  const ScratchFolder folder;
  const std::string image = folder / "image.png";
  save_image(image, draw({}, {64, 64, 1}, 1, PixelType::u8));
  const std::vector<std::string> names{"../../evil",
                                       "opencl:",
                                       "opencl:\n\x1b[31mred",
                                       ":::",
                                       "opencl:-1",
                                       "opencl:99999999999999999999",
                                       std::string(100'000, 'x'),
                                       "\xff\xfe",
                                       "%s%n%s%n"};
  for (const std::string& name : names) {
    CAPTURE(name.substr(0, 40));
    const Variable variable("WARPALIGN_DEVICE", name.c_str());
    const Outcome outcome = run_program({"register", image, image});
    CHECK(outcome.status >= 2);
    CHECK(outcome.status <= 3);
    check_one_line(outcome);
    CHECK_FALSE(contains(outcome.err, "\x1b"));
  }
}

TEST_CASE("surroundings: names with newlines and with bytes that are no UTF-8") {
  require_test_device();
  const ScratchFolder folder;
  const LoadedImage image = draw({}, {64, 64, 1}, 1, PixelType::u8);
  const std::vector<std::string> names{"two\nlines.png",  "not\xff\xfeutf8.png", "quote\".png",
                                       "esc\x1b[31m.png", "comma,.png",          "<b>&amp;.png"};
  std::vector<std::string> command{"stack"};
  for (const std::string& name : names) {
    save_image(folder / name, image);
    command.push_back(folder / name);
  }
  const std::vector<std::string> outputs{"--json",          folder / "s.json", "--csv",
                                         folder / "s.csv",  "--report",        folder / "s.html",
                                         "--output-folder", folder / "aligned"};
  command.insert(command.end(), outputs.begin(), outputs.end());
  command.insert(command.end(), {"--device", test_device(), "--fast"});
  const Outcome outcome = run_program(command);
  CAPTURE(outcome.err);
  CHECK(outcome.status == 0);
  CHECK_FALSE(contains(outcome.err, "\x1b"));

  const auto report = nlohmann::json::parse(read_text(folder / "s.json"), nullptr, false);
  CHECK_FALSE(report.is_discarded());
  CHECK(report["frames"].size() == names.size());
  const std::string csv = read_text(folder / "s.csv");
  CHECK(contains(csv, "\"" + (folder / "two\nlines.png") + "\""));
  CHECK(contains(csv, "quote\"\".png\""));
  const std::string page = read_text(folder / "s.html");
  CHECK_FALSE(contains(page, "<b>"));

  for (const std::string& name : names) {
    const Outcome missing = run_program({"register", folder / ("no " + name), folder / name});
    CHECK(missing.status == 2);
    check_one_line(missing);
    CHECK_FALSE(contains(missing.err, "\x1b"));
  }
}

TEST_CASE("surroundings: outputs that are links, folders, pipes or devices") {
  require_test_device();
  const ScratchFolder folder;
  const std::string image = folder / "in.png";
  save_image(image, draw({}, {32, 32, 1}, 1, PixelType::u8));
  const auto resample_to = [&](const std::string& output) {
    return run_program({"resample", image, output, "--zoom", "1", "--degree", "1", "--quiet",
                        "--device", test_device()});
  };
  // A link stays, and its target is replaced as a whole.
  write_text(folder / "target.png", "old");
  fs::create_symlink("target.png", folder / "link.png");
  CHECK(resample_to(folder / "link.png").status == 0);
  CHECK(fs::is_symlink(folder / "link.png"));
  CHECK(load_image(folder / "target.png").width == 32);
  // A dangling link is replaced by the file; a link to itself is an error.
  fs::create_symlink("not-there.png", folder / "nowhere.png");
  CHECK(resample_to(folder / "nowhere.png").status == 0);
  CHECK(load_image(folder / "nowhere.png").width == 32);
  CHECK_FALSE(fs::exists(folder / "not-there.png"));
  fs::create_symlink("loop.png", folder / "loop.png");
  const Outcome loop = resample_to(folder / "loop.png");
  CHECK(loop.status == 2);
  check_one_line(loop);
  fs::create_directory(folder / "folder.png");
  const Outcome directory = resample_to(folder / "folder.png");
  CHECK(directory.status == 2);
  check_one_line(directory);
  CHECK(fs::is_directory(folder / "folder.png"));
  // The input is not overwritten through another name.
  fs::create_symlink("in.png", folder / "same.png");
  const std::string before = read_text(image);
  CHECK(resample_to(folder / "same.png").status == 2);
  fs::create_hard_link(image, folder / "hard.png");
  CHECK(resample_to(folder / "hard.png").status == 2);
  CHECK(read_text(image) == before);
  for (const std::string& name : folder.names()) CHECK_FALSE(name.starts_with(".warpalign"));
}

TEST_CASE("surroundings: on a full disk every command says so in one line and leaves nothing") {
  require_test_device();
  const Disk disk(Disk::State::full);
  if (!disk.obstacle().empty()) return ::test::skip_case(disk.obstacle());
  const ScratchFolder folder;
  const std::string image = folder / "in.png";
  save_image(image, draw({}, {64, 64, 1}, 1, PixelType::u8));
  const std::string array = folder / "in.npy";
  CHECK(run_program(
            {"resample", image, array, "--zoom", "1", "--degree", "1", "--device", test_device()})
            .status == 0);
  const std::string out = disk.path() + "/out";
  const std::vector<std::vector<std::string>> commands{
      {"register", image, image, "--fast", "--output", out + ".tif"},
      {"register", image, image, "--fast", "--overlay", out + ".png"},
      {"resample", image, out + ".tif", "--zoom", "4", "--degree", "1"},
      {"prefilter", array, out + ".npy"},
      {"stack", image, image, "--fast", "--output", out + ".npy"},
      {"stack", image, image, "--fast", "--output-folder", disk.path() + "/frames"}};
  for (std::vector<std::string> command : commands) {
    CAPTURE(fmt::format("{}", fmt::join(command, " ")));
    command.insert(command.end(), {"--device", test_device(), "--quiet"});
    const Outcome outcome = run_program(command);
    CHECK(outcome.status == 2);
    check_one_line(outcome);
    CHECK(contains(outcome.err, "No space left on device"));
    // only the file that fills the disk
    CHECK(std::distance(fs::directory_iterator(disk.path()), {}) == 1);
  }
}

TEST_CASE("surroundings: PoCL loads no kernels from a folder that others may write to") {
  require_test_device();
  if (test_device().starts_with("cuda")) return ::test::skip_case("CUDA does not use PoCL's cache");
  const ScratchFolder folder;
  const std::string image = folder / "in.png";
  save_image(image, draw({}, {32, 32, 1}, 1, PixelType::u8));
  const std::string cache = folder / "kernels";
  fs::create_directory(cache);
  const auto resample = [&] {
    const Variable variable("POCL_CACHE_DIR", cache.c_str());
    return run_program({"resample", image, folder / "out.png", "--zoom", "1", "--degree", "0",
                        "--device", test_device()});
  };
  const auto is_untouched = [&] { return fs::is_empty(cache); };
  ::chmod(cache.c_str(), 0777);
  const Outcome open_to_all = resample();
  CHECK(open_to_all.status == 0);
  CHECK(contains(open_to_all.err, cache + " belongs to another user, or others may write to it"));
  CHECK(is_untouched());
  if (::geteuid() == 0) {
    ::chmod(cache.c_str(), 0755);
    REQUIRE(::chown(cache.c_str(), 65534, 65534) == 0);
    CHECK(contains(resample().err, "belongs to another user"));
    CHECK(is_untouched());
    REQUIRE(::chown(cache.c_str(), 0, 0) == 0);
  } else {
    ::test::skip_case("files of another user can only be made by root");
  }
  ::chmod(cache.c_str(), 0700);
  CHECK(resample().err.empty());
  CHECK_FALSE(is_untouched());
}

TEST_CASE("surroundings: a clock that goes backwards changes nothing but dates") {
  require_test_device();
  const ScratchFolder folder;
  const LoadedImage image = draw({}, {64, 64, 1}, 1, PixelType::u8);
  for (const std::string name : {"a.png", "b.png", "c.png"}) save_image(folder / name, image);
  const auto drift = [&](const std::string& before) {
    const Outcome outcome = run_script(fmt::format(
        "cd '{}' && {} \"$W\" stack a.png b.png c.png --fast --resume --device {} --csv drift.csv "
        "--quiet",
        folder / "", before, test_device()));
    CAPTURE(outcome.err);
    CHECK(outcome.status == 0);
    CHECK(outcome.err.empty());
    return read_text(folder / "drift.csv");
  };
  const std::string usual = drift("");
  CHECK(drift(fmt::format("LD_PRELOAD={}", WARPALIGN_BACKWARDS_CLOCK)) == usual);
}

}  // namespace
}  // namespace warpalign::test
