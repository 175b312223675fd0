// Each call that writes to the output folder fails once, for every command that writes files. The
// status must not be 0, standard error must be one line, and no file may be partial.
#include "program/arrays.hpp"
#include "program/disks.hpp"
#include "program/picture.hpp"
#include "program/run_program.hpp"
#include "program/stack_files.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>

namespace warpalign::test {
namespace {

using namespace program;

const Shape shape{48, 40, 1};

/// A command with its inputs in one folder and its outputs in another.
struct Command {
  std::string name;
  std::vector<std::string> arguments;
  int status = 0;  ///< without a failing call
};

std::map<std::string, std::string> files_in(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files[std::filesystem::relative(entry.path(), folder)] = read_text(entry.path());
  }
  return files;
}

/// Runs the program in an empty output folder, with one of the calls failing.
class FailingRun {
 public:
  explicit FailingRun(Command command) : command_(std::move(command)) {}

  /// Clears the folder first. Point -1: no call fails.
  Outcome run(long point, int code) {
    std::filesystem::remove_all(outputs());
    std::filesystem::create_directory(outputs());
    return go_on(point, code);
  }
  /// Keeps the files of an earlier run.
  Outcome go_on(long point, int code) {
    const std::string log = folder_ / "log";
    std::filesystem::remove(log);
    const Variable preload("LD_PRELOAD", WARPALIGN_FAILING_FILES);
    const Variable folder("FAILING_FOLDER", outputs().c_str());
    const Variable number("FAILING_POINT", std::to_string(point).c_str());
    const Variable error("FAILING_CODE", std::to_string(code).c_str());
    const Variable calls("FAILING_LOG", log.c_str());
    std::vector<std::string> arguments;
    for (std::string argument : command_.arguments) {
      const std::size_t at = argument.find("OUT/");
      if (at != std::string::npos) argument.replace(at, 3, outputs());
      arguments.push_back(argument);
    }
    Outcome outcome = run_program(arguments);
    calls_ = lines_of(read_text(log));
    return outcome;
  }
  [[nodiscard]] const std::vector<std::string>& calls() const { return calls_; }
  [[nodiscard]] std::map<std::string, std::string> files() const { return files_in(outputs()); }

 private:
  static std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }
  [[nodiscard]] std::string outputs() const {
    return std::filesystem::weakly_canonical(folder_ / "outputs");
  }

  Command command_;
  ScratchFolder folder_;
  std::vector<std::string> calls_;
};

/// Every file must be identical to that of a run without failures.
void check_whole(const std::map<std::string, std::string>& found,
                 const std::map<std::string, std::string>& expected) {
  for (const auto& [name, text] : found) {
    CAPTURE(name);
    const bool is_known = expected.contains(name);
    CHECK(is_known);
    const bool same = is_known && expected.at(name) == text;
    CHECK(same);
  }
}

void check_one_line(const Outcome& outcome) {
  CHECK(outcome.status >= 1);
  CHECK(outcome.status <= 3);
  CAPTURE(outcome.err);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK(outcome.err.starts_with("warpalign: "));
}

/// A failing call must give either an error, or the same files by another way.
void check_point(FailingRun& run, long point, int code, const std::string& call,
                 const Command& command, const std::map<std::string, std::string>& expected) {
  CAPTURE(point);
  CAPTURE(call);
  CAPTURE(code);
  const Outcome outcome = run.run(point, code);
  check_whole(run.files(), expected);
  const bool all_there = run.files() == expected;
  if (outcome.status == command.status && all_there) return;
  check_one_line(outcome);
}

void sweep(const Command& command) {
  CAPTURE(command.name);
  FailingRun run(command);
  const Outcome whole = run.run(-1, EIO);
  REQUIRE_MESSAGE(whole.status == command.status, whole.err);
  const auto expected = run.files();
  const std::vector<std::string> calls = run.calls();
  REQUIRE(!calls.empty());
  std::size_t failing = 0;
  for (std::size_t point = 0; point < calls.size(); ++point) {
    const auto number = static_cast<long>(point);
    check_point(run, number, ENOSPC, calls[point], command, expected);
    ++failing;
    if (point >= 8 || (calls[point] != "write" && calls[point] != "pwrite")) continue;
    // Short and interrupted writes are not failures. Testing the first file is enough.
    for (const int code : {0, EINTR}) {
      CAPTURE(point);
      CAPTURE(code);
      CHECK(run.run(number, code).status == command.status);
      const bool same = run.files() == expected;
      CHECK(same);
    }
  }
  std::printf("%s: %zu calls, each failed once\n", command.name.c_str(), failing);
}

/// Two images of one scene, two tiles, a volume, and a stack.
struct Inputs {
  Inputs() {
    save_image(folder / "a.png", draw({}, shape, 1, PixelType::u8));
    save_image(folder / "b.png", draw({}, shape, 1, PixelType::u8, Affine::translation(1.5, -1)));
    std::filesystem::create_directory(folder / "tiles");
    for (int i = 0; i < 2; ++i) {
      save_image(folder / fmt::format("tiles/t{}.png", i),
                 draw({}, {96, 96, 1}, 1, PixelType::u8, Affine::translation(71.5 * i, 0.8 * i)));
    }
    save_npy(folder / "v.npy", random_array({12, 14, 16}, PixelType::f32));
    std::vector<LoadedImage> frames;
    for (int i = 0; i < 4; ++i) {
      frames.push_back(draw({}, shape, 1, PixelType::u8, Affine::translation(-0.3 * i, 0.2 * i)));
    }
    write_tiff_stack(folder / "s.tif", frames);
  }
  ScratchFolder folder;
};

}  // namespace

TEST_CASE("files: every call that writes fails once, for every command") {
  require_test_device();
  const Inputs inputs;
  const std::string a = inputs.folder / "a.png";
  const std::string b = inputs.folder / "b.png";
  const std::string v = inputs.folder / "v.npy";
  const std::string s = inputs.folder / "s.tif";
  const std::string device = test_device();
  sweep({"resample", {"resample", a, "OUT/r.png", "--rotate", "5", "--device", device}});
  sweep({"prefilter", {"prefilter", v, "OUT/c.npy", "--device", device}});
  sweep({"register",
         {"register", a, b, "--motion", "translation", "--output", "OUT/o.tif", "--overlay",
          "OUT/o.png", "--device", device}});
  sweep({"register --motion local",
         {"register", a, b, "--motion", "local", "--window", "24", "--field", "OUT/f.npy",
          "--output", "OUT/l.pgm", "--report", "OUT/l.html", "--device", device}});
  sweep(
      {"register-volume", {"register-volume", v, v, "--output", "OUT/v.npy", "--device", device}});
  sweep(
      {"stack",
       {"stack",    s,           "--motion",       "translation", "--device",        device,
        "--csv",    "OUT/d.csv", "--json",         "OUT/d.json",  "--plot",          "OUT/d.svg",
        "--output", "OUT/o.tif", "--output-video", "OUT/o.y4m",   "--output-folder", "OUT/aligned",
        "--report", "OUT/d.html"}});
  sweep({"template",
         {"template", a, b, "--motion", "rigid", "--rounds", "1", "--output", "OUT/m.tif",
          "--sheet", "OUT/m.png", "--transforms", "OUT/transforms", "--device", device}});
  const std::string t = inputs.folder / "tiles";
  sweep({"mosaic",
         {"mosaic", t, "--grid", "1x2", "--overlap", "25", "--output", "OUT/m.ome.tif", "--located",
          "OUT/m.xml", "--report", "OUT/m.html", "--device", device}});
  sweep({"experiment zoom",
         {"experiment", "zoom", a, "--factor", "4", "--region", "4,4,8,8", "--output-folder",
          "OUT/zoom"}});
}

namespace {

/// Fails each call once, and then resumes without a failure, which must give the same files.
void resume_after_each(const Command& command) {
  FailingRun run(command);
  REQUIRE(run.run(-1, EIO).status == 0);
  const auto expected = run.files();
  const std::vector<std::string> calls = run.calls();
  for (std::size_t point = 0; point < calls.size(); ++point) {
    CAPTURE(point);
    CAPTURE(calls[point]);
    const Outcome failed = run.run(static_cast<long>(point), EIO);
    if (failed.status != 0) check_one_line(failed);
    CHECK(run.go_on(-1, EIO).status == 0);
    const bool same = run.files() == expected;
    CHECK(same);
  }
  std::printf("%s: %zu calls, each failed once\n", command.name.c_str(), calls.size());
}

}  // namespace

// Completed frames stay in the journal and in files that are marked as partial. The same command
// resumes from them.
TEST_CASE("files: a resumed stack whose writing fails ends with the same files") {
  require_test_device();
  const Inputs inputs;
  resume_after_each({"stack --resume",
                     {"stack", inputs.folder / "s.tif", "--resume", "--motion", "translation",
                      "--device", test_device(), "--csv", "OUT/d.csv", "--output", "OUT/o.npy",
                      "--output-folder", "OUT/aligned"}});
}

TEST_CASE("files: a resumed mosaic whose writing fails ends with the same files") {
  require_test_device();
  const Inputs inputs;
  resume_after_each(
      {"mosaic --resume",
       {"mosaic", inputs.folder / "tiles", "--resume", "--grid", "1x2", "--overlap", "25",
        "--device", test_device(), "--output", "OUT/m.ome.tif", "--located", "OUT/m.csv"}});
}

}  // namespace warpalign::test
