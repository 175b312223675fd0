// How bench handles cases that fail, and records that do not match.
#include "bench/baseline.hpp"
#include "bench/runner.hpp"
#include "io/usage_error.hpp"
#include "program/run_program.hpp"

#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <new>
#include <string>
#include <vector>

namespace warpalign::test {
namespace {

using namespace program;

/// A case on every device that fails as `fail` does. `calls` counts the attempts.
bench::Case failing(const std::string& name, int& calls, const std::function<void()>& fail) {
  bench::Case what;
  what.suite = "failing";
  what.name = name;
  what.size = {64, 64, 1};
  what.on_device = [&calls, fail](const Device&) -> std::unique_ptr<bench::Work> {
    ++calls;
    fail();
    return nullptr;
  };
  return what;
}

/// Runs two-dimensional cases without a requested size on the device under test.
bench::Record record_of(const std::vector<bench::Case>& cases) {
  bench::Run run;
  run.devices.push_back(open_device(test_device(), Config{}));
  run.cases = cases;
  run.settings.runs = 1;
  bench::Record record;
  std::size_t steps = 0;
  bench::run_cases(run, {[&](const std::string&) { ++steps; }, [](const std::string&) {}}, record);
  CHECK(steps <= bench::steps_of(run));
  return record;
}

bench::Record sample_record() {
  bench::Record record;
  record.program = "warpalign 0.0.0";
  record.columns.push_back({"opencl:0", "A Device", "A Platform", "1.2", "cpu", "no texture unit"});
  record.failures.push_back({"opencl:0", "sobel", "f32", {64, 32, 1}, "out of \"memory\""});
  record.notes.push_back("8192 x 8192 was left out");
  return record;
}

}  // namespace

TEST_CASE("bench: a case that fails is recorded with the first line of its reason") {
  require_test_device();
  int calls = 0;
  const bench::Record record = record_of(
      {failing("built", calls, [] { throw Error(ErrorKind::build_failed, "line 1\nline 2"); }),
       failing("large", calls, [] { throw Error(ErrorKind::out_of_memory, "no room"); }),
       failing("host", calls, [] { throw std::bad_alloc(); }), failing("wrong", calls, [] {
         throw bench::WrongResult({2, 1, "the oracle"});
       })});
  CHECK(calls == 4);  // none of these failures keeps the device from the next case
  REQUIRE(record.failures.size() == 4);
  const std::vector<std::string> names{"built", "large", "host", "wrong"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    CHECK(record.failures[i].name == names[i]);
    CHECK(record.failures[i].suite == "failing");
    CHECK(record.failures[i].size == Shape{64, 64, 1});
  }
  CHECK(record.failures[0].reason == "line 1");
  CHECK(record.failures[1].reason == "no room");
  CHECK(record.failures[2].reason == "the machine has not enough memory for it");
  CHECK(record.failures[3].reason.find("the oracle") != std::string::npos);
  REQUIRE(record.results.size() == 1);  // the result of the copy, which runs first
  CHECK(record.results[0].suite == "copy");
}

TEST_CASE("bench: a device whose runtime failed is not used again") {
  require_test_device();
  for (const ErrorKind kind : {ErrorKind::device_failure, ErrorKind::device_unavailable}) {
    int calls = 0;
    const auto fail = [kind] { throw Error(kind, "it is gone"); };
    const bench::Record record =
        record_of({failing("first", calls, fail), failing("second", calls, fail)});
    CHECK(calls == 1);
    REQUIRE(record.failures.size() == 1);
    CHECK(record.failures[0].reason == "it is gone");
  }
}

TEST_CASE(
    "bench: a case too large for a device is recorded, or refused if its size was requested") {
  require_test_device();
  int calls = 0;
  bench::Case large = failing("large", calls, [] {});
  large.memory_bytes = std::size_t{1} << 60;
  const bench::Record record = record_of({large, large});
  CHECK(calls == 0);
  REQUIRE(record.notes.size() == 1);
  CHECK(record.notes[0].find("failing of 64 x 64 does not fit opencl:") != std::string::npos);
  bench::Run run;
  run.devices.push_back(open_device(test_device(), Config{}));
  run.cases = {large};
  CHECK_NOTHROW(bench::refuse_oversized_cases(run));
  run.sides_named = true;
  CHECK_THROWS_WITH_AS(bench::refuse_oversized_cases(run), doctest::Contains("name smaller sizes"),
                       UsageError);
}

TEST_CASE("bench: a record is read back with its failures; a damaged one is refused") {
  const ScratchFolder folder;
  const std::string file = folder / "record.json";
  const std::string text = bench::record_text(sample_record());
  write_text(file, text);
  const bench::Record again = bench::read_record("--baseline", file);
  REQUIRE(again.failures.size() == 1);
  CHECK(again.failures[0].reason == "out of \"memory\"");
  CHECK(again.failures[0].size == Shape{64, 32, 1});
  CHECK(again.notes == sample_record().notes);
  CHECK(bench::record_text(again) == text);

  std::string damaged = text;
  const std::size_t at = damaged.find("\"columns\"");
  REQUIRE(at != std::string::npos);
  damaged.replace(at, 9, "\"pillars\"");
  write_text(file, damaged);
  CHECK_THROWS_WITH_AS((void)bench::read_record("--baseline", file),
                       doctest::Contains("record.json: is damaged"), UsageError);
}

TEST_CASE("bench: a baseline of other devices, or of another cache, is refused") {
  const bench::Record before = sample_record();
  CHECK_NOTHROW(bench::refuse_incomparable("old.json", before, before.columns, false));
  // The same device with another number is still the same device.
  std::vector<bench::Column> columns = before.columns;
  columns[0].id = "opencl:1";
  CHECK_NOTHROW(bench::refuse_incomparable("old.json", before, columns, false));
  CHECK_THROWS_WITH_AS(bench::refuse_incomparable("old.json", before, columns, true),
                       doctest::Contains("old.json: was measured without --hot"), UsageError);
  columns[0].name = "Another Device";
  CHECK_THROWS_WITH_AS(
      bench::refuse_incomparable("old.json", before, columns, false),
      doctest::Contains("holds none of this run's devices, but opencl:0, A Device"), UsageError);
  CHECK_THROWS_WITH_AS(bench::refuse_incomparable("old.json", {}, columns, false),
                       doctest::Contains("but none at all"), UsageError);
}

}  // namespace warpalign::test
