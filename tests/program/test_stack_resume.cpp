// `warpalign stack --resume` and `--shard`: a run that is killed repeatedly gives the files of an
// uninterrupted run, and so do shards that run separately.
#include "commands/journal_line.hpp"
#include "commands/journal_words.hpp"
#include "commands/stack_journal.hpp"
#include "io/image_file.hpp"
#include "program/picture.hpp"
#include "program/run_program.hpp"
#include "program/stack_files.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

extern char** environ;

namespace warpalign::test {
namespace {

using namespace program;
using nlohmann::json;

const Shape shape{96, 80, 1};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Drifting frames, among them one that does not fit and one that is constant.
std::vector<LoadedImage> drifting(std::size_t count) {
  std::vector<LoadedImage> frames;
  for (std::size_t i = 0; i < count; ++i) {
    const double t = static_cast<double>(i);
    frames.push_back(draw({}, shape, 1, PixelType::u8, Affine::translation(-0.21 * t, 0.13 * t)));
  }
  frames[count / 3] = draw({77}, shape, 1, PixelType::u8);
  frames[count / 2] = make_image(shape.width, shape.height, 1, PixelType::u8);
  return frames;
}

/// The program running in the background.
class Process {
 public:
  explicit Process(const std::vector<std::string>& arguments) {
    std::vector<char*> argv{const_cast<char*>(WARPALIGN_PROGRAM)};
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    REQUIRE(posix_spawn(&id_, WARPALIGN_PROGRAM, &actions, nullptr, argv.data(), environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    kill();
    (void)wait();
  }

  void kill() const {
    if (id_ > 0) ::kill(id_, SIGKILL);
  }
  [[nodiscard]] bool ended() {
    if (id_ > 0 && ::waitpid(id_, &status_, WNOHANG) == id_) id_ = -1;
    return id_ < 0;
  }
  /// Waits and returns the status, or -1 if the process was killed.
  int wait() {
    if (id_ > 0) ::waitpid(id_, &status_, 0);
    id_ = -1;
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
  }

 private:
  pid_t id_ = -1;
  int status_ = 0;
};

std::size_t lines_in(const std::string& path) {
  const std::string text = read_text(path);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::vector<std::string> stack_arguments(const std::vector<std::string>& more) {
  std::vector<std::string> all{"stack", "--device", test_device(), "--motion", "translation"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// The contents of all files below a folder, by name.
std::map<std::string, std::string> contents_of(const std::string& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    contents[std::filesystem::relative(entry.path(), folder)] = read_text(entry.path());
  }
  return contents;
}

void check_same(const std::string& found, const std::string& expected) {
  const auto a = contents_of(found);
  const auto b = contents_of(expected);
  std::vector<std::string> names_a;
  std::vector<std::string> names_b;
  for (const auto& [name, text] : a) names_a.push_back(name);
  for (const auto& [name, text] : b) names_b.push_back(name);
  CHECK(names_a == names_b);
  for (const auto& [name, text] : b) {
    CAPTURE(name);
    const bool same = a.contains(name) && a.at(name) == text;
    CHECK(same);
  }
}

/// All outputs, relative to the current folder, so that names in reports are always the same.
const std::vector<std::string> all_outputs{
    "--csv",           "drift.csv", "--json",   "drift.json",     "--plot",
    "drift.svg",       "--output",  "out.tif",  "--output-video", "out.y4m",
    "--output-folder", "aligned",   "--report", "drift.html"};

/// Changes the current folder for the lifetime of this object.
class WithinFolder {
 public:
  explicit WithinFolder(const std::string& folder) : before_(std::filesystem::current_path()) {
    std::filesystem::create_directories(folder);
    std::filesystem::current_path(folder);
  }
  WithinFolder(const WithinFolder&) = delete;
  WithinFolder& operator=(const WithinFolder&) = delete;
  ~WithinFolder() { std::filesystem::current_path(before_); }

 private:
  std::filesystem::path before_;
};

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST_CASE("stack: killed at any moment and resumed, it gives the files of an uninterrupted run") {
  require_test_device();
  const ScratchFolder folder;
  const std::string input = folder / "in.tif";
  write_tiff_stack(input, drifting(48));
  std::mt19937 engine(11);
  for (const std::string to : {"first", "previous", "mean"}) {
    CAPTURE(to);
    const auto arguments = stack_arguments(joined({input, "--to", to}, all_outputs));
    {
      const WithinFolder here(folder / ("whole-" + to));
      CHECK(run_program(arguments).status == 2);  // a frame is constant
    }
    const WithinFolder here(folder / ("killed-" + to));
    const auto resumed = joined(arguments, {"--resume"});
    const std::string journal = "aligned.journal";
    int status = -1;
    std::size_t kills = 0;
    while (status < 0) {
      // Kills it after some more lines of the journal plus a random delay of up to the time of one
      // frame.
      const std::size_t wanted = lines_in(journal) + 2 + engine() % 14;
      const auto moment = static_cast<useconds_t>(engine() % 15000);
      Process process(resumed);
      while (!process.ended() && lines_in(journal) < wanted) ::usleep(500);
      ::usleep(moment);
      process.kill();
      status = process.wait();
      if (status < 0) ++kills;
      REQUIRE(kills < 60);
    }
    CHECK(status == 2);
    MESSAGE("killed " << kills << " times");
    CHECK(kills >= 3);
    check_same(folder / ("killed-" + to), folder / ("whole-" + to));
  }
}

TEST_CASE("stack: a kill before the first frame, and a truncated line") {
  require_test_device();
  const ScratchFolder folder;
  write_tiff_stack(folder / "in.tif", drifting(12));
  const auto arguments = stack_arguments({folder / "in.tif", "--csv", folder / "drift.csv"});
  REQUIRE(run_program(arguments).status == 2);
  const std::string expected = read_text(folder / "drift.csv");
  const std::string journal = folder / "drift.csv.journal";
  const auto resumed = joined(arguments, {"--resume"});
  for (const useconds_t moment : {1000U, 20000U, 100000U, 300000U}) {
    Process process(resumed);
    ::usleep(moment);
    process.kill();
    (void)process.wait();
  }
  {
    Process process(resumed);
    while (!process.ended() && lines_in(journal) < 8) ::usleep(500);
  }
  if (std::filesystem::exists(journal)) {
    std::ofstream(journal, std::ios::app) << "frame 7 half a li";
  }
  CHECK(run_program(resumed).status == 2);
  CHECK(read_text(folder / "drift.csv") == expected);
  CHECK(folder.names() == std::vector<std::string>{"drift.csv", "in.tif"});
}

TEST_CASE("stack: a journal of another run is refused") {
  require_test_device();
  const ScratchFolder folder;
  write_tiff_stack(folder / "in.tif", drifting(40));
  const auto arguments =
      stack_arguments({folder / "in.tif", "--json", folder / "drift.json", "--resume"});
  const std::string journal = folder / "drift.json.journal";
  {
    Process process(arguments);
    while (!process.ended() && lines_in(journal) < 4) ::usleep(500);
    process.kill();
  }
  REQUIRE(std::filesystem::exists(journal));
  const std::string before = read_text(journal);
  const auto refused = [&](const std::vector<std::string>& all, const std::string& named) {
    const Outcome outcome = run_program(all);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK(contains(outcome.err, named));
    CHECK(read_text(journal) == before);
  };
  refused(joined(arguments, {"--max-shift", "30"}),
          "drift.json.journal: belongs to a run with different options");
  const auto changed = drifting(41);
  const std::string original = read_text(folder / "in.tif");
  write_tiff_stack(folder / "in.tif", changed);
  refused(arguments, "drift.json.journal: belongs to a run with different inputs");
  // The same bytes with another modification time count as another input, since nothing shows that
  // they are the same.
  write_text(folder / "in.tif", original);
  refused(arguments, "with different inputs");
  const int lock = ::open(journal.c_str(), O_RDWR);
  REQUIRE(::flock(lock, LOCK_EX) == 0);
  refused(arguments, "another process is working on this run");
  ::close(lock);
}

TEST_CASE("stack: a run that fails before its first frame leaves no journal") {
  const ScratchFolder folder;
  write_tiff_stack(folder / "in.tif", drifting(3));
  const auto fails = [&](const std::vector<std::string>& options, const std::string& named) {
    const Outcome outcome =
        run_program(joined({"stack", folder / "in.tif", "--device", "opencl:99", "--motion",
                            "translation", "--output-folder", folder / "aligned"},
                           options));
    CAPTURE(outcome.err);
    CHECK(outcome.status > 1);
    CHECK(contains(outcome.err, named));
    CHECK(folder.names() == std::vector<std::string>{"in.tif"});
  };
  for (const auto& part : {std::vector<std::string>{"--resume"}, {"--shard", "1/2"}}) {
    fails(part, "opencl:99");
    // With other options, a remaining journal would belong to another run.
    fails(joined(part, {"--max-shift", "30"}), "opencl:99");
  }
  fails({"--resume", "--csv", folder / "no/drift.csv"}, "no/drift.csv: cannot be written");
}

TEST_CASE("stack: a file that is not a journal is left alone") {
  const ScratchFolder folder;
  write_tiff_stack(folder / "in.tif", drifting(3));
  const std::string journal = folder / "drift.json.journal";
  write_text(journal, "my notes\n");
  const Outcome outcome = run_program(
      stack_arguments({folder / "in.tif", "--json", folder / "drift.json", "--resume"}));
  CHECK(outcome.status == 2);
  CHECK(contains(outcome.err, "drift.json.journal: exists but is not a journal"));
  CHECK(read_text(journal) == "my notes\n");
}

TEST_CASE("stack: --resume and --shard with contradictory options are refused") {
  const ScratchFolder folder;
  write_tiff_stack(folder / "in.tif", drifting(3));
  const auto before = folder.names();
  const auto refused = [&](const std::vector<std::string>& options, const std::string& named) {
    const Outcome outcome =
        run_program(joined({"stack", "--device", "opencl:99", folder / "in.tif"}, options));
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, named));
    CHECK(folder.names() == before);
  };
  refused({"--resume"}, "--resume: needs an output");
  refused({"--resume", "--output-video", "-"}, "standard output cannot be resumed");
  refused({"--shard", "1/2"}, "--shard: needs an output");
  for (const std::string text : {"0/2", "3/2", "2", "1/2x", "/2", "a/b"}) {
    refused({"--json", folder / "d.json", "--shard", text}, "--shard " + text + ": must be");
  }
  refused({"--json", folder / "d.json", "--shard", "1/2", "--to", "mean"}, "use --to first");
}

TEST_CASE("stack: merged shards equal a single run") {
  require_test_device();
  const ScratchFolder folder;
  const std::string input = folder / "in.tif";
  write_tiff_stack(input, drifting(20));
  const auto arguments = stack_arguments(joined({input}, all_outputs));
  {
    const WithinFolder here(folder / "whole");
    CHECK(run_program(arguments).status == 2);
  }
  const WithinFolder here(folder / "parts");
  CHECK(run_program(joined(arguments, {"--shard", "2/3"})).status == 2);
  CHECK(std::filesystem::exists("aligned.shard-2-of-3.journal"));
  CHECK_FALSE(std::filesystem::exists("drift.csv"));
  CHECK(run_program(joined(arguments, {"--shard", "1/3"})).status >= 0);
  // The third shard is killed midway; the final run completes it.
  {
    Process process(joined(arguments, {"--shard", "3/3"}));
    while (!process.ended() && lines_in("aligned.shard-3-of-3.journal") < 4) ::usleep(500);
    process.kill();
  }
  const Outcome merged = run_program(joined(arguments, {"--resume"}));
  CAPTURE(merged.err);
  CHECK(merged.status == 2);
  check_same(folder / "parts", folder / "whole");
}

/// The frames in the journal's lines, in order.
std::vector<std::size_t> frames_of_journal(const std::string& path) {
  std::vector<std::size_t> frames;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto frame = parse_journal_line(unsealed(line).value_or(""));
    if (frame) frames.push_back(frame->index);
  }
  return frames;
}

TEST_CASE("stack: shards that lack frames, merged by a run that is killed") {
  require_test_device();
  const ScratchFolder folder;
  const std::string input = folder / "in.tif";
  write_tiff_stack(input, drifting(24));
  const auto arguments = stack_arguments(joined({input}, all_outputs));
  {
    const WithinFolder here(folder / "whole");
    CHECK(run_program(arguments).status == 2);
  }
  const WithinFolder here(folder / "parts");
  CHECK(run_program(joined(arguments, {"--shard", "3/5"})).status >= 0);
  const auto resumed = joined(arguments, {"--resume"});
  const std::string journal = "aligned.journal";
  int status = -1;
  for (std::size_t kills = 0; status < 0; ++kills) {
    REQUIRE(kills < 40);
    const std::size_t wanted = lines_in(journal) + 3;
    Process process(resumed);
    while (!process.ended() && lines_in(journal) < wanted) ::usleep(500);
    process.kill();
    status = process.wait();
    // Each frame has its line once its outputs exist. Frames of other shards have no lines before
    // those that this run registers.
    const std::vector<std::size_t> frames = frames_of_journal(journal);
    CHECK(std::adjacent_find(frames.begin(), frames.end(), std::greater_equal<>()) == frames.end());
  }
  CHECK(status == 2);
  check_same(folder / "parts", folder / "whole");
}

TEST_CASE("stack: local motion, in shards and killed, equals a single run") {
  require_test_device();
  const ScratchFolder folder;
  const std::string input = folder / "in.tif";
  write_tiff_stack(input, drifting(12));
  const auto arguments = [&](const std::string& to) {
    return joined({"stack", "--device", test_device(), "--motion", "local", "--window", "32",
                   "--to", to, input},
                  all_outputs);
  };
  for (const std::string to : {"first", "mean"}) {
    CAPTURE(to);
    const WithinFolder here(folder / ("whole-" + to));
    CHECK(run_program(arguments(to)).status == 1);  // two frames are not reliable
  }
  {
    const WithinFolder here(folder / "parts");
    CHECK(run_program(joined(arguments("first"), {"--shard", "2/2"})).status >= 0);
    CHECK(run_program(joined(arguments("first"), {"--shard", "1/2"})).status >= 0);
    CHECK(run_program(joined(arguments("first"), {"--resume"})).status == 1);
  }
  check_same(folder / "parts", folder / "whole-first");
  {
    const WithinFolder here(folder / "killed");
    const auto resumed = joined(arguments("mean"), {"--resume"});
    for (const std::size_t wanted : {5U, 9U}) {
      Process process(resumed);
      while (!process.ended() && lines_in("aligned.journal") < wanted) ::usleep(500);
      process.kill();
      (void)process.wait();
    }
    CHECK(run_program(resumed).status == 1);
  }
  check_same(folder / "killed", folder / "whole-mean");
}

StackFrame sample_frame(std::size_t index) {
  StackFrame frame;
  frame.index = index;
  frame.file = "a b%c\n-\xc3\xa4[7].tif";
  frame.stem = "-";
  frame.place.matrix = {0.1, -0.0, 1e-310, 3, 1.0 / 3, -7e22};
  frame.place.similarity.rotation_deg = std::numeric_limits<double>::infinity();
  frame.place.confidence = 0.75;
  frame.place.reliable = index % 2 == 0;
  frame.place.reference = 5;
  if (index % 3 == 0) frame.place.spread = 1.0 / 7;
  if (index % 4 == 0) {
    frame.place.ambiguous = true;
    frame.place.period = {{20, 3.0 / 7}, {-4, 17}};
    frame.place.undetermined_direction = Point{0.6, -0.8};
  }
  frame.aligned = "x";
  return frame;
}

TEST_CASE("journal: lines lose nothing, and damaged ones are known") {
  const StackFrame frame = sample_frame(12);
  const std::string line = journal_line(frame);
  CHECK(line.find('\n') == std::string::npos);
  const auto back = parse_journal_line(line);
  REQUIRE(back);
  CHECK(journal_line(*back) == line);
  CHECK(back->file == frame.file);
  CHECK(back->stem == "-");
  CHECK(back->trouble == "");
  CHECK(back->place.matrix.c == 1e-310);
  CHECK(std::signbit(back->place.matrix.b));
  CHECK(back->place.similarity.rotation_deg == frame.place.similarity.rotation_deg);
  CHECK(back->place.reference == 5);
  CHECK(back->place.spread == 1.0 / 7);
  CHECK(back->place.ambiguous);
  REQUIRE(back->place.period.size() == 2);
  CHECK(back->place.period[0].y == 3.0 / 7);
  REQUIRE(back->place.undetermined_direction);
  CHECK(back->place.undetermined_direction->y == -0.8);
  CHECK_FALSE(parse_journal_line(journal_line(sample_frame(13)))->place.ambiguous);
  CHECK_FALSE(parse_journal_line(journal_line(sample_frame(13)))->place.spread);
  CHECK_FALSE(parse_journal_line("frame 12 a"));
  CHECK_FALSE(parse_journal_line("mark"));
  std::string whole = sealed(line);
  whole.pop_back();
  REQUIRE(unsealed(whole));
  CHECK(*unsealed(whole) == line);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    CHECK_FALSE(unsealed(damaged));
    CHECK_FALSE(unsealed(whole.substr(0, i)));
  }
}

TEST_CASE("journal: one without frames is removed, or replaced by another run") {
  const ScratchFolder folder;
  const std::string path = folder / "a.journal";
  std::string empty;
  {
    StackJournal journal(path, {1, 2});
    journal.mark();
    empty = read_text(path);
  }
  CHECK_FALSE(std::filesystem::exists(path));

  // The journal of another run that was killed before its first frame.
  write_text(path, empty);
  {
    StackJournal journal(path, {1, 3});
    CHECK(journal.frames() == 0);
    journal.append(sample_frame(0));
  }
  const std::string kept = read_text(path);
  CHECK_THROWS_WITH_AS(StackJournal(path, {1, 2}), doctest::Contains("with different options"),
                       FileError);
  CHECK(read_text(path) == kept);

  // Lines that may be from another version, and damaged lines, may stand for finished work.
  const std::string title = empty.substr(0, empty.find('\n') + 1);
  for (const std::string& line : {sealed("image 7"), std::string("frame 7 damaged\n")}) {
    write_text(path, title + line);
    CHECK_THROWS_AS(StackJournal(path, {4, 2}), FileError);
    CHECK(read_text(path) == title + line);
  }
}

TEST_CASE("journal: after a crash of the machine only marked lines are trusted") {
  const ScratchFolder folder;
  const std::string path = folder / "a.journal";
  const RunFingerprint fingerprint{1, 2};
  {
    StackJournal journal(path, fingerprint);
    for (std::size_t i = 0; i < 3; ++i) journal.append(sample_frame(i));
    journal.mark();
    for (std::size_t i = 3; i < 6; ++i) journal.append(sample_frame(i));
  }
  {
    StackJournal journal(path, fingerprint);
    CHECK(journal.frames() == 6);
    CHECK(journal.last_reliable() == 4);
    CHECK(journal.find(5));
    CHECK_FALSE(journal.find(6));
  }
  // Simulates a reboot: replaces the boot lines of both openings.
  std::string text = read_text(path);
  for (std::size_t at = text.find("boot "); at != std::string::npos;
       at = text.find("boot ", at + 5)) {
    text.replace(at, text.find('\n', at) - at + 1, sealed("boot of-another-time"));
  }
  write_text(path, text);
  StackJournal journal(path, fingerprint);
  CHECK(journal.frames() == 3);
  CHECK(journal.last_reliable() == 2);
  CHECK(journal.find(2));
  CHECK_FALSE(journal.find(3));
  CHECK_THROWS_AS(StackJournal(path, fingerprint), FileError);  // it is open already
  CHECK_THROWS_WITH_AS(StackJournal(folder / "no/a.journal", fingerprint),
                       doctest::Contains("cannot be written"), FileError);
}

}  // namespace
}  // namespace warpalign::test
