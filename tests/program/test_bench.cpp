// `warpalign bench`: every suite verifies its results, records and reports are complete, and
// regressions are detected.
#include "bench/baseline.hpp"
#include "bench/runner.hpp"
#include "bench/suites.hpp"
#include "program/arrays.hpp"

#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace warpalign::test {
namespace {

using namespace program;
using nlohmann::json;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> tiny(std::vector<std::string> suites, std::vector<std::string> more) {
  std::vector<std::string> arguments{"bench"};
  arguments.insert(arguments.end(), suites.begin(), suites.end());
  arguments.insert(arguments.end(), {"--devices", test_device(), "--sizes", "128", "--volumes",
                                     "32", "--runs", "1"});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

void check_result(const json& result) {
  CAPTURE(result.dump());
  CHECK(result["verified"] == true);
  CHECK(result["error"].get<double>() <= result["tolerance"].get<double>());
  CHECK(result["timing"]["ms"] > 0);
  CHECK(result["timing"]["low_ms"] <= result["timing"]["high_ms"]);
  CHECK(result["operations_a_second"] > 0);
  if (result["column"] == "host") return;
  for (const char* column : {"first_use_ms", "plan_ms", "upload_ms", "download_ms", "wall_ms"}) {
    CHECK(result["timing"][column] > 0);
  }
  CHECK(result["to_copy"] > 0);
  CHECK(result["timing"]["buffer_sets"] > 1);
}

/// The report loads nothing: it has no address except SVG's namespace, no script and no style
/// sheet.
void check_self_contained(std::string html) {
  CHECK(html.starts_with("<!DOCTYPE html>"));
  CHECK(html.ends_with("</html>\n"));
  const std::string name_of_svg = "http://www.w3.org/2000/svg";
  for (std::size_t at = 0; (at = html.find(name_of_svg)) != std::string::npos;) {
    html.erase(at, name_of_svg.size());
  }
  for (const char* outside :
       {"http:", "https:", "//", "src=", "<script", "<link", "@import", "url(", "nan", "inf "}) {
    CAPTURE(outside);
    CHECK_FALSE(contains(html, outside));
  }
}

TEST_CASE("bench: every suite verifies on the device, and the files report it") {
  require_test_device();
  const ScratchFolder folder;
  const std::string report = folder / "report.html";
  const Outcome outcome =
      run_program(tiny({}, {"--json", folder / "record.json", "--report", report}));
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(folder.names() == std::vector<std::string>{"record.json", "report.html"});

  const json record = json::parse(read_text(folder / "record.json"));
  CHECK(record["schema"] == "warpalign-bench");
  CHECK(record["version"] == bench::record_version);
  CHECK(record["failures"].empty());
  std::set<std::string> suites;
  for (const json& result : record["results"]) {
    check_result(result);
    suites.insert(result["suite"].get<std::string>());
  }
  // Plus the copy. The suite `search` has no cases this small: its pairs take minutes on a CPU.
  CHECK(suites.size() == bench::suites().size());
  CHECK_FALSE(suites.contains("search"));
  CHECK(record["results"][0]["suite"] == "copy");

  const std::string html = read_text(report);
  check_self_contained(html);
  for (const bench::Suite& suite : bench::suites()) {
    CAPTURE(suite.name);
    if (suite.name == std::string("search")) continue;
    CHECK(contains(html, std::string("<h2 id=\"") + suite.name + "\""));
    CHECK(contains(outcome.out, std::string(suite.name) + ": all cases"));
  }
  // The report shows the papers' figures next to ours.
  for (const char* paper : {"Tesla C2050", "GeForce 9800 GTX", "Xeon 5140"}) {
    CHECK(contains(html, paper));
  }
}

TEST_CASE("bench: wrong usage is refused before anything runs") {
  const ScratchFolder folder;
  const std::string text = folder / "text.json";
  const std::string older = folder / "older.json";
  write_text(text, "{}");
  write_text(older, R"({"schema": "warpalign-bench", "version": 0})");
  const auto refused = [&](std::vector<std::string> arguments, int status,
                           const std::vector<std::string>& named) {
    arguments.insert(arguments.begin(), "bench");
    check_refused(run_program(arguments), status, named);
    CHECK(folder.names() == std::vector<std::string>{"older.json", "text.json"});
  };
  refused({"speed"}, 2, {"'speed'", "prefilter", "registration"});
  refused({"sobel", "--sizes", "63"}, 2, {"--sizes 63", "64 to 16384"});
  refused({"sobel", "--volumes", "4096"}, 2, {"--volumes 4096", "16 to 2048"});
  refused({"sobel", "--sizes", "many"}, 2, {"--sizes many", "64 to 16384"});
  refused({"sobel", "--sizes", "0"}, 2, {"--sizes 0", "64 to 16384"});
  refused({"sobel", "--sizes", "128x64"}, 2, {"--sizes 128x64"});
  refused({"sobel", "--runs", "-1"}, 2, {"--runs"});
  refused({"sobel", "--devices", "vulkan"}, 2, {"vulkan"});
  refused({"sobel", "--devices", "opencl:99"}, 3, {"opencl"});
  refused({"sobel", "--baseline", folder / "missing.json"}, 2, {"--baseline", "missing.json"});
  refused({"sobel", "--baseline", text}, 2, {"--baseline", "text.json", "not a record"});
  refused({"sobel", "--baseline", older}, 2, {"--baseline", "older.json", "version 0"});
  refused({"sobel", "--peers", text, "--report", folder / "page"}, 2, {"--peers", "text.json"});
  refused({"sobel", "--peers", text}, 2, {"--peers", "--report only"});
  refused({"sobel", "--runs", "0"}, 2, {"--runs", "1 or more"});
  refused({"sobel", "--runs", ""}, 2, {"--runs", "needs a number"});
  refused({"sobel", "--json", folder / "no/such/place.json"}, 2, {"place.json"});
  refused({"sobel", "--json", folder / "one", "--report", folder / "one"}, 2, {"--report", "one"});
}

TEST_CASE("bench: a size that does not fit is refused up front, with the available memory") {
  require_test_device();
  const Outcome outcome =
      run_program({"bench", "tricubic", "--devices", test_device(), "--volumes", "2048"});
  check_refused(outcome, 2, {"tricubic of 2048 x 2048 x 2048", "MiB", "name smaller sizes"});
}

/// The record of a device with a copy, a yardstick and one more case.
bench::Record record_with(double copy_ms, double yardstick_ms, double case_ms) {
  bench::Record record;
  record.columns = {{"cuda:0", "a card", "NVIDIA CUDA", "1", "gpu", ""}};
  const auto add = [&](const char* suite, const char* name, double ms) {
    bench::Result result;
    result.column = "cuda:0";
    result.suite = suite;
    result.name = name;
    result.size = {64, 64, 1};
    result.yardstick = "bilinear";
    result.operations = 1;
    result.bytes = 1;
    result.timing.time = {ms, ms * 0.99, ms * 1.01, 9};
    record.results.push_back(result);
  };
  add("copy", "copy", copy_ms);
  add("rotation", "bilinear", yardstick_ms);
  add("rotation", "cubic", case_ms);
  return record;
}

TEST_CASE("bench: records are compared by ratios within each run") {
  const bench::Record before = record_with(1, 2, 4);
  CHECK(bench::compare(before, before).compared == 3);
  CHECK(bench::compare(before, before).regressions.empty());
  // A machine that is half as fast has no regression, nor has one that is slower by less than the
  // tolerance.
  CHECK(bench::compare(record_with(2, 4, 8), before).regressions.empty());
  CHECK(bench::compare(record_with(1, 2, 4.3), before).regressions.empty());

  const bench::Comparison slower = bench::compare(record_with(1, 2, 5), before);
  REQUIRE(slower.regressions.size() == 2);  // relative to the copy and to bilinear
  for (const bench::Change& change : slower.regressions) {
    CHECK(change.name == "cubic");
    CHECK(change.factor() == doctest::Approx(1.25));
  }
  CHECK(bench::compare(record_with(1, 2, 3), before).gains.size() == 2);
  // Changes within the spread of noisy runs are not reported.
  bench::Record noisy = record_with(1, 2, 5);
  noisy.results.back().timing.time.high = 8;
  CHECK(bench::compare(noisy, before).regressions.empty());
}

TEST_CASE("bench: columns of the same device are compared") {
  const bench::Record before = record_with(1, 2, 4);
  bench::Record other = record_with(1, 2, 8);
  other.columns[0].name = "another card";
  CHECK(bench::compare(other, before).compared == 0);
  CHECK_THROWS_WITH(bench::refuse_incomparable("old.json", before, other.columns, false),
                    doctest::Contains("a card"));
  CHECK_THROWS_WITH(bench::refuse_incomparable("old.json", before, before.columns, true),
                    doctest::Contains("--hot"));
  CHECK_NOTHROW(bench::refuse_incomparable("old.json", before, before.columns, false));
}

TEST_CASE("bench --baseline names regressions, and the report shows peers") {
  require_test_device();
  const ScratchFolder folder;
  const std::string first = folder / "first.json";
  REQUIRE(run_program(tiny({"sobel"}, {"--json", first})).status == 0);

  json doctored = json::parse(read_text(first));
  for (json& result : doctored["results"]) {
    if (result["case"] != "packed") continue;
    for (const char* time :
         {"ms", "low_ms", "high_ms"}) {  // as if it had been a hundred times faster
      result["timing"][time] = result["timing"][time].get<double>() / 100;
    }
  }
  const std::string baseline = folder / "baseline.json";
  write_text(baseline, doctored.dump());

  for (json& column : doctored["columns"]) column["id"] = "a-peer";
  for (json& result : doctored["results"]) result["column"] = "a-peer";
  const std::string peers = folder / "peers.json";
  write_text(peers, doctored.dump());

  // An output may not overwrite the baseline.
  const std::string before = read_text(baseline);
  for (const char* option : {"--json", "--report"}) {
    check_refused(run_program(tiny({"sobel"}, {"--baseline", baseline, option, baseline})), 2,
                  {option, "same file"});
    CHECK(read_text(baseline) == before);
  }

  const std::string report = folder / "report.html";
  const Outcome outcome =
      run_program(tiny({"sobel"}, {"--baseline", baseline, "--peers", peers, "--report", report}));
  CAPTURE(outcome.err);
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.out, "regression"));
  CHECK(contains(outcome.out, "packed"));
  const std::string html = read_text(report);
  check_self_contained(html);
  CHECK(contains(html, "regression"));
  CHECK(contains(html, "a-peer ms"));
}

/// A case that works, or that fails as `trouble` does.
bench::Case small_case(const std::string& name, std::function<void()> trouble) {
  bench::Case made = bench::copy_case({32, 32, 1});
  made.suite = "suite";
  made.name = name;
  made.on_device = [works = made.on_device, trouble](const Device& device) {
    trouble();
    return works(device);
  };
  return made;
}

bench::Record run_three(const std::function<void()>& trouble) {
  bench::Run run;
  run.devices = {open_device(test_device(), {})};
  run.settings.runs = 1;
  run.cases = {small_case("before", [] {}), small_case("trouble", trouble),
               small_case("after", [] {})};
  bench::Record record;
  bench::run_cases(run, {[](const std::string&) {}, [](const std::string&) {}}, record);
  return record;
}

std::vector<std::string> names_in(const bench::Record& record) {
  std::vector<std::string> names;
  for (const bench::Result& result : record.results) {
    if (result.suite == "suite") names.push_back(result.name);
  }
  return names;
}

TEST_CASE("bench: failures are recorded, and independent cases continue") {
  require_test_device();
  using Names = std::vector<std::string>;
  const auto throws = [](ErrorKind kind) {
    return [kind] { throw Error(kind, "thrown by a test\nmore lines"); };
  };
  // A case that needs too much memory does not affect the others.
  const bench::Record memory = run_three(throws(ErrorKind::out_of_memory));
  CHECK(names_in(memory) == Names{"before", "after"});
  // After a failure of the runtime the device is not used again.
  const bench::Record lost = run_three(throws(ErrorKind::device_failure));
  CHECK(names_in(lost) == Names{"before"});
  for (const bench::Record* record : {&memory, &lost}) {
    REQUIRE(record->failures.size() == 1);
    CHECK(record->failures[0].name == "trouble");
    CHECK(record->failures[0].reason == "thrown by a test");
  }
  // No time is reported for a wrong result.
  const bench::Record wrong = run_three([] { throw bench::WrongResult({2, 1, "the truth"}); });
  CHECK(names_in(wrong) == Names{"before", "after"});
  REQUIRE(wrong.failures.size() == 1);
  CHECK(contains(wrong.failures[0].reason, "wrong"));
}

TEST_CASE("bench: the median of samples, and their 16th and 84th percentiles") {
  std::vector<double> values;
  for (int i = 100; i >= 0; --i) values.push_back(i);
  const bench::Spread spread = bench::spread_of(values);
  CHECK(spread.median == doctest::Approx(50));
  CHECK(spread.low == doctest::Approx(16));
  CHECK(spread.high == doctest::Approx(84));
  CHECK(spread.samples == 101);
  CHECK(bench::spread_of({3}).high == 3);
}

}  // namespace
}  // namespace warpalign::test
