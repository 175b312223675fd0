// `warpalign mosaic --resume` after an interruption, and with tiles that were replaced meanwhile.
#include "commands/journal_words.hpp"
#include "commands/mosaic_journal.hpp"
#include "program/disks.hpp"
#include "program/mosaic_scan.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace warpalign::test {
namespace {

using namespace program;
using nlohmann::json;

/// A scan whose runs resume and write a picture.
struct ResumedScan : Scan {
  ResumedScan() { write_positions(); }
  [[nodiscard]] std::string journal() const { return folder / "m.ome.tif.journal"; }
  [[nodiscard]] Outcome resume(std::vector<std::string> options = {}) const {
    options.insert(options.end(), {"--output", folder / "m.ome.tif", "--resume"});
    return run_positions(options);
  }
  /// A run whose last file cannot be written.
  void interrupt(std::vector<std::string> options = {}) const {
    const Variable preload("LD_PRELOAD", WARPALIGN_FAILING_FILES);
    std::filesystem::create_directory(folder / "broken");
    const std::string broken = folder / "broken";
    const Variable where("FAILING_FOLDER", broken.c_str());
    const Variable point("FAILING_POINT", "1");
    const Variable code("FAILING_CODE", "28");
    options.insert(options.end(), {"--report", folder / "broken/m.html"});
    const Outcome outcome = resume(options);
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 2);
    REQUIRE(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    REQUIRE(std::filesystem::exists(journal()));
  }
  [[nodiscard]] std::vector<std::string> lines() const {
    std::ifstream file(journal());
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  void write_lines(const std::vector<std::string>& lines) const {
    std::ofstream file(journal());
    for (const std::string& line : lines) file << line << "\n";
  }
};

/// Applies `change` to the records of pairs in a journal.
template <typename Change>
void change_records(const ResumedScan& scan, const Change& change) {
  std::vector<std::string> lines;
  for (const std::string& line : scan.lines()) {
    std::optional<PairRecord> record = parse_record_line(unsealed(line).value_or(""));
    if (record) change(*record);
    std::string text = record ? sealed(record_line(*record)) : line + "\n";
    text.pop_back();
    lines.push_back(text);
  }
  scan.write_lines(lines);
}

TEST_CASE("mosaic goes on after an interruption, without registering pairs again") {
  require_test_device();
  const ResumedScan scan;
  REQUIRE(scan.resume().status == 0);
  CHECK_FALSE(std::filesystem::exists(scan.journal()));
  const json whole = scan.report();
  const std::string picture = read_text(scan.folder / "m.ome.tif");
  std::filesystem::remove(scan.folder / "m.ome.tif");
  std::filesystem::remove(scan.folder / "m.json");
  scan.interrupt();
  const Outcome outcome = scan.resume();
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(contains(outcome.out, "resumed"));
  CHECK_FALSE(std::filesystem::exists(scan.journal()));
  json resumed = scan.report();
  for (const char* key : {"tiles", "pairs", "stage", "distortion"})
    CHECK(resumed[key] == whole[key]);
  CHECK(read_text(scan.folder / "m.ome.tif") == picture);
  // A journal that says something else shows that the pairs come from it.
  scan.interrupt();
  change_records(scan, [](PairRecord& record) { record.confidence = 0.625; });
  REQUIRE(scan.resume().status == 0);
  resumed = scan.report();
  for (const json& pair : resumed["pairs"]) CHECK(pair["confidence"] == 0.625);
}

TEST_CASE("mosaic takes up the matrices of rotated tiles, but not for another motion") {
  require_test_device();
  const ResumedScan scan;
  const std::vector<std::string> rigid{"--motion", "rigid"};
  REQUIRE(scan.resume(rigid).status == 0);
  const json whole = scan.report();
  scan.interrupt(rigid);
  for (const std::vector<std::string>& other :
       {std::vector<std::string>{"--motion", "similarity"}, {}}) {
    const Outcome refused = scan.resume(other);
    CHECK(refused.status == 2);
    CHECK(contains(refused.err, "journal"));
  }
  const Outcome outcome = scan.resume(rigid);
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(contains(outcome.out, "7 registrations from the journal"));
  json resumed = scan.report();
  for (const char* key : {"tiles", "pairs", "stage"}) CHECK(resumed[key] == whole[key]);
}

TEST_CASE("mosaic goes on after a kill, from the lines that are whole") {
  require_test_device();
  const ResumedScan scan;
  scan.interrupt();
  const std::vector<std::string> lines = scan.lines();
  // The title, six tiles, three pairs and half of one.
  std::vector<std::string> kept(lines.begin(), lines.begin() + 10);
  std::ofstream file(scan.journal());
  for (const std::string& line : kept) file << line << "\n";
  file << lines[10].substr(0, lines[10].size() / 2);
  file.close();
  const Outcome outcome = scan.resume();
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(contains(outcome.out, "3 registrations from the journal"));
  CHECK(scan.rms() < promised_rms);
}

TEST_CASE("mosaic registers pairs of replaced tiles again") {
  require_test_device();
  const ResumedScan scan;
  // A tile of another scene, which the user replaces after the run.
  const LoadedImage right = load_image(scan.path(4));
  save_image(scan.path(4), draw({}, scan_tile, 1, PixelType::u16, Affine::translation(3000, 5000)));
  scan.interrupt();
  save_image(scan.path(4), right);
  std::filesystem::last_write_time(
      scan.path(4), std::filesystem::file_time_type::clock::now() + std::chrono::seconds(10));
  const Outcome outcome = scan.resume();
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  // Of the seven pairs, tile 4 has three.
  CHECK(contains(outcome.out, "4 registrations from the journal"));
  CHECK(scan.rms() < promised_rms);
  const json report = scan.report();
  for (const json& tile : report["tiles"]) CHECK(tile["placed_by"] == "pairs");
}

TEST_CASE("mosaic keeps what was done when a tile cannot be read, and goes on when it can") {
  require_test_device();
  const ResumedScan scan;
  const std::string whole = read_text(scan.path(5));
  write_text(scan.path(5), whole.substr(0, whole.size() / 2));
  const Outcome cut = scan.resume();
  CHECK(cut.status == 2);
  CHECK(contains(cut.err, "t5.tif"));
  CHECK(std::count(cut.err.begin(), cut.err.end(), '\n') == 1);
  CHECK_FALSE(std::filesystem::exists(scan.folder / "m.ome.tif"));
  CHECK_FALSE(std::filesystem::exists(scan.folder / "m.json"));
  REQUIRE(std::filesystem::exists(scan.journal()));
  write_text(scan.path(5), whole);
  const Outcome outcome = scan.resume();
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(contains(outcome.out, "from the journal"));
  CHECK(scan.rms() < promised_rms);
}

TEST_CASE("mosaic refuses the journal of another run, and one that it did not write") {
  require_test_device();
  const ResumedScan scan;
  scan.interrupt();
  const auto refused = [&](const std::vector<std::string>& options, const std::string& part) {
    const Outcome outcome = scan.resume(options);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, part));
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  };
  refused({"--min-confidence", "0.6"},
          "m.ome.tif.journal: belongs to a run with different options");
  refused({"--flat-field", scan.path(0)}, "belongs to a run with different options");
  scan.write_positions(1.01);
  refused({}, "belongs to a run with different inputs");
  scan.write_positions();
  CHECK(scan.resume().status == 0);
  write_text(scan.journal(), "my notes\n");
  refused({}, "m.ome.tif.journal: exists but is not a journal");
  CHECK(read_text(scan.journal()) == "my notes\n");
  std::filesystem::remove(scan.journal());
  // Positions that do not fit leave no journal that would stop the next run.
  scan.write_positions(1, true);
  refused({}, "with x and y exchanged");
  CHECK_FALSE(std::filesystem::exists(scan.journal()));
  const Outcome none = run_program({"mosaic", scan.folder / "scan", "--device", test_device(),
                                    "--positions", scan.folder / "stage.csv", "--resume"});
  CHECK(none.status == 2);
  CHECK(contains(none.err, "--resume: needs an output"));
}

TEST_CASE("a pair's line of the journal is restored exactly") {
  PairRecord record;
  record.batch = 2;
  record.index = 30;
  record.reference = 7;
  record.moving = 11;
  record.expected = {1.0 / 3, -2e300};
  record.outcome = PairOutcome::ambiguous;
  record.shift = {5e-324, 17};
  record.covariance = {0.1, -0.2, 0.3};
  record.confidence = 0.7;
  record.correlation = -1;
  record.reason = "50 % - of\tit";
  const std::string line = record_line(record);
  const std::optional<PairRecord> again = parse_record_line(line);
  REQUIRE(again);
  CHECK(record_line(*again) == line);
  CHECK(again->reason == record.reason);
  CHECK(again->expected.x == record.expected.x);
  CHECK(again->covariance == record.covariance);
  CHECK(again->outcome == record.outcome);
  for (const std::string& wrong : {std::string("pair 1 2 3"), std::string("frame"),
                                   line.substr(0, line.rfind(' ')), std::string()}) {
    CHECK_FALSE(parse_record_line(wrong));
  }
}

}  // namespace
}  // namespace warpalign::test
