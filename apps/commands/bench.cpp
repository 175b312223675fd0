// `warpalign bench`: measures the speed of each stage on each device, verifies the results, and
// compares them with the papers' figures.
#include "bench/baseline.hpp"
#include "bench/host_info.hpp"
#include "bench/report_html.hpp"
#include "bench/runner.hpp"
#include "bench/suites.hpp"
#include "bench/tables.hpp"
#include "commands/commands.hpp"
#include "io/atomic_file.hpp"
#include "io/image_file.hpp"
#include "io/messages.hpp"
#include "io/progress.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"
#include "options/common_options.hpp"
#include "options/file_names.hpp"
#include "options/number_list.hpp"

#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>
#include <warpalign/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>

namespace warpalign::program {
namespace {

using bench::Column;
using bench::Record;

struct Options {
  std::vector<std::string> suites;
  std::vector<std::string> devices{"all"};
  std::vector<std::string> sizes;
  std::vector<std::string> volumes;
  std::optional<std::string> json;
  std::optional<std::string> report;
  std::optional<std::string> baseline;
  std::vector<std::string> peers;
  std::optional<std::string> config;
  bool hot = false;
  std::optional<int> runs;
};

/// The allowed sides. Every suite supports the smallest one; registration needs 64.
struct Range {
  std::int64_t least;
  std::int64_t most;
};

/// Parses extents. Returns an empty list for an invalid word.
std::vector<std::int64_t> extents_of(const std::string& option, const std::string& word) {
  try {
    return parse_extents(option, word);
  } catch (const UsageError&) {
    return {};
  }
}

std::int64_t side_of(const std::string& option, const std::string& word, const Range& range) {
  const std::vector<std::int64_t> extents = extents_of(option, word);
  const bool same = std::all_of(extents.begin(), extents.end(),
                                [&](std::int64_t extent) { return extent == extents.front(); });
  if (extents.empty() || !same || extents.front() < range.least || extents.front() > range.most) {
    throw UsageError(fmt::format("{} {}: must be a side of {} to {} pixels, such as 256", option,
                                 word, range.least, range.most));
  }
  return extents.front();
}

std::optional<std::vector<std::int64_t>> sides_of(const std::string& option,
                                                  const std::vector<std::string>& words,
                                                  const Range& range) {
  if (words.empty()) return std::nullopt;
  std::vector<std::int64_t> sides;
  for (const std::string& word : words) {
    const std::int64_t side = side_of(option, word, range);
    if (std::find(sides.begin(), sides.end(), side) == sides.end()) sides.push_back(side);
  }
  return sides;
}

bench::Sizes sizes_of(const Options& options) {
  return {sides_of("--sizes", options.sizes, {64, max_side}),
          sides_of("--volumes", options.volumes, {16, 2048})};
}

/// Opens the named devices. For "all", devices that do not open are added to the failures.
std::vector<Device> open_devices(const Options& options, const Config& config, Record& record) {
  const bool all = options.devices == std::vector<std::string>{"all"};
  std::vector<std::string> names = options.devices;
  if (all) {
    names.clear();
    for (const BackendReport& backend : list_backends(config)) {
      for (const DeviceInfo& device : backend.devices) names.push_back(device.id);
    }
  }
  std::vector<Device> devices;
  for (const std::string& name : names) {
    try {
      const Device device = open_device(name, config);
      const auto same = [&](const Device& other) { return other.info().id == device.info().id; };
      if (std::none_of(devices.begin(), devices.end(), same)) devices.push_back(device);
    } catch (const Error& error) {
      if (!all) throw;
      record.failures.push_back({name, "", "", {}, error.message()});
    }
  }
  if (devices.empty()) {
    throw Error(ErrorKind::device_unavailable,
                "no device works; run 'warpalign devices' to see what is missing");
  }
  return devices;
}

/// The output files. The constructor checks that they can be written before anything is measured.
class Outputs {
 public:
  explicit Outputs(const Options& options) {
    std::vector<std::string> inputs = options.peers;
    if (options.baseline) inputs.push_back(*options.baseline);
    check_outputs({{"--json", options.json}, {"--report", options.report}}, inputs);
    if (options.json) json_ = std::make_unique<AtomicFile>(*options.json);
    if (options.report) report_ = std::make_unique<AtomicFile>(*options.report);
  }

  void write(const Record& record, const Record& with_peers,
             const std::optional<bench::Comparison>& comparison) {
    if (json_) put(*json_, bench::record_text(record));
    if (report_) put(*report_, bench::report_html(with_peers, comparison));
  }

 private:
  static void put(AtomicFile& file, const std::string& text) {
    file.write(std::as_bytes(std::span(text)));
    file.commit();
  }

  std::unique_ptr<AtomicFile> json_;
  std::unique_ptr<AtomicFile> report_;
};

std::string command_of(const Options& options) {
  std::string words = "warpalign bench";
  const auto list = [&](const char* option, const std::vector<std::string>& values) {
    if (values.empty()) return;
    words += option;
    for (std::size_t i = 0; i < values.size(); ++i) words += (i == 0 ? "" : ",") + values[i];
  };
  for (const std::string& suite : options.suites) words += " " + suite;
  list(" --devices ", options.devices);
  list(" --sizes ", options.sizes);
  list(" --volumes ", options.volumes);
  if (options.hot) words += " --hot";
  if (options.runs) words += fmt::format(" --runs {}", *options.runs);
  return words;
}

Record new_record(const Options& options) {
  Record record;
  record.program = fmt::format("warpalign {}", version());
  record.date = bench::now_utc();
  record.command = command_of(options);
  record.host = bench::describe_host();
  record.settings.hot = options.hot;
  record.settings.runs = options.runs.value_or(0);
  return record;
}

std::vector<Column> columns_of(const bench::Run& run) {
  std::vector<Column> columns;
  for (const Device& device : run.devices) columns.push_back(bench::column_of(device.info()));
  const bool host = std::any_of(run.cases.begin(), run.cases.end(),
                                [](const bench::Case& one) { return bool(one.on_host); });
  if (host) {
    columns.push_back({bench::host_column, bench::describe_host(),
                       "one thread, the papers' CPU forms", "", "cpu", ""});
  }
  return columns;
}

std::vector<Record> read_peers(const Options& options) {
  std::vector<Record> peers;
  for (const std::string& file : options.peers)
    peers.push_back(bench::read_record("--peers", file));
  return peers;
}

/// Adds the peers' results for the suites and sizes that were measured. If a column's name is
/// taken, appends a number to it.
Record joined(Record record, const std::vector<Record>& peers) {
  const std::vector<bench::Result> own = record.results;
  const auto measured = [&](const bench::Result& result) {
    return std::any_of(own.begin(), own.end(), [&](const bench::Result& one) {
      return one.suite == result.suite && one.size == result.size;
    });
  };
  for (const Record& peer : peers) {
    for (Column column : peer.columns) {
      const std::string id = column.id;
      for (int i = 2; record.column(column.id) != nullptr; ++i) {
        column.id = fmt::format("{} ({})", id, i);
      }
      record.columns.push_back(column);
      for (bench::Result result : peer.results) {
        if (result.column != id || !measured(result)) continue;
        result.column = column.id;
        record.results.push_back(std::move(result));
      }
    }
  }
  return record;
}

void print_suite(const Record& record, const std::string& suite) {
  if (bench::rows_of(record, suite).empty()) return;
  report(bench::as_text(bench::suite_table(record, suite)) + "\n");
  for (const bench::Table& table : bench::paper_tables(record, suite)) {
    report(bench::as_text(table) + "\n");
  }
  std::fflush(stdout);
}

void measure(const bench::Run& run, Record& record) {
  Progress progress(bench::steps_of(run));
  const bench::Watcher watcher{[&](const std::string& what) { progress.next(what); },
                               [&](const std::string& suite) {
                                 progress.pause();
                                 print_suite(record, suite);
                               }};
  bench::run_cases(run, watcher, record);
}

ExitStatus conclude(const Record& record, const std::optional<bench::Comparison>& comparison) {
  if (comparison) report(bench::as_text(bench::changes_table(*comparison)) + "\n");
  if (verbosity() != Verbosity::quiet) {
    for (const std::string& note : record.notes) fmt::print(stderr, "left out: {}\n", note);
  }
  for (const bench::Failure& failure : record.failures) {
    const std::string what = failure.suite.empty()
                                 ? failure.column
                                 : fmt::format("{} {} {} on {}", failure.suite, failure.name,
                                               to_string(failure.size), failure.column);
    fmt::print(stderr, "warpalign: {}: {}\n", what, failure.reason);
  }
  if (!record.failures.empty()) return ExitStatus::device_trouble;
  return comparison && !comparison->regressions.empty() ? ExitStatus::regression : ExitStatus::ok;
}

ExitStatus run(const Options& options) {
  bench::Run plan;
  const bench::Sizes sizes = sizes_of(options);
  for (const bench::Suite& suite : bench::suites_named(options.suites)) {
    for (bench::Case& one : suite.cases(sizes)) plan.cases.push_back(std::move(one));
  }
  if (options.runs && *options.runs < 1) throw UsageError("--runs: must be 1 or more");
  if (!options.peers.empty() && !options.report) {
    throw UsageError(
        "--peers: these records are shown in --report only; add --report, or omit --peers");
  }
  const std::vector<Record> peers = read_peers(options);
  std::optional<Record> before;
  if (options.baseline) before = bench::read_record("--baseline", *options.baseline);
  Outputs outputs(options);

  const Config config = options.config ? read_config(*options.config) : default_config();
  Record record = new_record(options);
  plan.devices = open_devices(options, config, record);
  plan.settings = record.settings;
  plan.sides_named = sizes.sides.has_value();
  plan.volumes_named = sizes.volumes.has_value();
  bench::refuse_oversized_cases(plan);
  record.columns = columns_of(plan);
  if (before) {
    bench::refuse_incomparable(*options.baseline, *before, record.columns, options.hot);
  }
  measure(plan, record);

  std::optional<bench::Comparison> comparison;
  if (before) comparison = bench::compare(record, *before);
  outputs.write(record, joined(record, peers), comparison);
  return conclude(record, comparison);
}

std::string suites_text() {
  std::string text;
  for (const bench::Suite& suite : bench::suites()) {
    text += fmt::format("  {:<17} {}\n", suite.name, suite.title);
  }
  return text;
}

constexpr const char* footer_text =
    "\n"
    "The command first measures a copy of each size on the device. It verifies each result before\n"
    "timing it. If a case fails, it reports the failure and continues. By default, sizes above\n"
    "4096 x 4096 and 256 x 256 x 256 run on GPUs only.\n"
    "\n"
    "Exit status: 0 done; 1 slower than the baseline; 2 wrong usage; 3 a case failed.\n"
    "\n"
    "Examples:\n"
    "  warpalign bench\n"
    "  warpalign bench prefilter rotation --devices cuda:0,opencl:nvidia,opencl:pocl --sizes 2048\n"
    "  warpalign bench --devices all --json today.json --report today.html\n"
    "  warpalign bench --baseline yesterday.json --json today.json\n";

}  // namespace

void add_bench_command(CLI::App& program, Action& chosen) {
  CLI::App& command = add_command(
      program, "bench", "Measure the speed of every stage, verify results, compare with the papers",
      "Measurements");
  auto options = std::make_shared<Options>();
  add_option(command, "SUITE", &options->suites, "Suites to run [all]");
  add_option(command, "--devices NAMES", &options->devices, "Devices, separated by commas, or all",
             comma_list_with_default);
  add_option(command, "--sizes N,N", &options->sizes, "Sides of square images, such as 1024,2048",
             comma_list);
  add_option(command, "--volumes N,N", &options->volumes, "Sides of cubic volumes, such as 256",
             comma_list);
  add_option(command, "--json FILE", &options->json, "Write the record as JSON");
  add_option(command, "--report FILE", &options->report, "Write a report as one HTML file");
  add_option(command, "--baseline FILE", &options->baseline,
             "Compare ratios within each run with those of this older record");
  add_option(command, "--peers FILES", &options->peers,
             "Records of other libraries (see benchmarks/) to show in the report", comma_list);
  add_option(command, "--hot", &options->hot, "Use the same buffers in all runs");
  add_option(command, "--runs N", &options->runs,
             "Number of samples of each time [as many as fit into 0.2 s, 3 to 50]");
  add_config_option(command, options->config);
  add_message_options(command);
  set_footer(command, "Suites:\n" + suites_text() + footer_text);
  set_action(command, chosen, [options] { return run(*options); });
}

}  // namespace warpalign::program
