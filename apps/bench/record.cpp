// The record of a benchmark run.
#include "bench/record.hpp"

#include "io/usage_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace warpalign::program::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* schema = "warpalign-bench";

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

std::optional<double> optional_number(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return json.get<double>();
}

Json size_json(const Shape& size) { return {size.width, size.height, size.depth}; }

Shape size_from(const Json& json) {
  return {json.at(0).get<std::int64_t>(), json.at(1).get<std::int64_t>(),
          json.at(2).get<std::int64_t>()};
}

Json column_json(const Column& column) {
  return {{"id", column.id},         {"name", column.name}, {"platform", column.platform},
          {"driver", column.driver}, {"kind", column.kind}, {"details", column.details}};
}

Column column_from(const Json& json) {
  return {json.at("id"),     json.at("name"), json.at("platform"),
          json.at("driver"), json.at("kind"), json.at("details")};
}

Json timing_json(const Timing& timing) {
  Json parts = Json::array();
  for (const Part& part : timing.parts) {
    parts.push_back({{"name", part.name}, {"ms", part.milliseconds}});
  }
  return {{"clock", timing.by_events ? "device" : "wall"},
          {"ms", timing.time.median},
          {"low_ms", timing.time.low},
          {"high_ms", timing.time.high},
          {"samples", timing.time.samples},
          {"runs_a_sample", timing.runs_per_sample},
          {"buffer_sets", timing.buffer_sets},
          {"wall_ms", timing.wall},
          {"first_use_ms", number(timing.first_use)},
          {"plan_ms", number(timing.plan)},
          {"upload_ms", number(timing.upload)},
          {"download_ms", number(timing.download)},
          {"parts", parts}};
}

Timing timing_from(const Json& json) {
  Timing timing;
  timing.by_events = json.at("clock") == "device";
  timing.time = {json.at("ms"), json.at("low_ms"), json.at("high_ms"), json.at("samples")};
  timing.runs_per_sample = json.at("runs_a_sample");
  timing.buffer_sets = json.at("buffer_sets");
  timing.wall = json.at("wall_ms");
  timing.first_use = optional_number(json.at("first_use_ms"));
  timing.plan = optional_number(json.at("plan_ms"));
  timing.upload = optional_number(json.at("upload_ms"));
  timing.download = optional_number(json.at("download_ms"));
  for (const Json& part : json.at("parts"))
    timing.parts.push_back({part.at("name"), part.at("ms")});
  return timing;
}

Json result_json(const Record& record, const Result& result) {
  Json json{{"column", result.column},
            {"suite", result.suite},
            {"case", result.name},
            {"size", size_json(result.size)},
            {"yardstick", result.yardstick},
            {"unit", result.unit},
            {"operations", result.operations},
            {"bytes", result.bytes},
            {"verified", result.verdict.right()},
            {"error", result.verdict.error},
            {"tolerance", result.verdict.tolerance},
            {"against", result.verdict.against},
            {"timing", timing_json(result.timing)}};
  if (!result.quality.name.empty()) {
    json["quality"] = {{"name", result.quality.name}, {"value", result.quality.value}};
  }
  // Derived values, for readers other than this program.
  const double seconds = result.timing.time.median * 1e-3;
  json["gigabytes_a_second"] =
      result.bytes > 0 ? Json(result.bytes / seconds * 1e-9) : Json(nullptr);
  json["operations_a_second"] = result.operations / seconds;
  json["to_copy"] = number(record.to_copy(result));
  json["share_of_copy"] = number(record.share_of_copy(result));
  json["to_yardstick"] = number(record.to_yardstick(result));
  return json;
}

Result result_from(const Json& json) {
  Result result{json.at("column"),
                json.at("suite"),
                json.at("case"),
                size_from(json.at("size")),
                json.at("yardstick"),
                json.at("unit"),
                json.at("operations"),
                json.at("bytes"),
                timing_from(json.at("timing")),
                {json.at("error"), json.at("tolerance"), json.at("against")},
                {}};
  if (json.contains("quality")) {
    result.quality = {json["quality"].at("name"), json["quality"].at("value")};
  }
  return result;
}

Record record_from(const Json& json) {
  Record record;
  record.program = json.at("program");
  record.date = json.at("date");
  record.command = json.at("command");
  record.host = json.at("host");
  record.settings.hot = json.at("hot");
  for (const Json& column : json.at("columns")) record.columns.push_back(column_from(column));
  for (const Json& result : json.at("results")) record.results.push_back(result_from(result));
  record.notes = json.at("notes").get<std::vector<std::string>>();
  for (const Json& failure : json.at("failures")) {
    record.failures.push_back({failure.at("column"), failure.at("suite"), failure.at("case"),
                               size_from(failure.at("size")), failure.at("reason")});
  }
  return record;
}

std::string text_of(const std::string& option, const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw UsageError(fmt::format("{} {}: cannot be read", option, path.string()));
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

std::optional<double> ratio(const Result* above, const Result* below) {
  if (above == nullptr || below == nullptr) return std::nullopt;
  return above->timing.time.median / below->timing.time.median;
}

}  // namespace

const Result* Record::find(const std::string& column, const std::string& suite,
                           const std::string& name, const Shape& size) const noexcept {
  const auto found = std::find_if(results.begin(), results.end(), [&](const Result& result) {
    return result.column == column && result.suite == suite && result.name == name &&
           result.size == size;
  });
  return found == results.end() ? nullptr : &*found;
}

const Column* Record::column(const std::string& id) const noexcept {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const Column& column) { return column.id == id; });
  return found == columns.end() ? nullptr : &*found;
}

std::optional<double> Record::to_copy(const Result& result) const noexcept {
  return ratio(&result, find(result.column, "copy", "copy", result.size));
}

std::optional<double> Record::share_of_copy(const Result& result) const noexcept {
  const Result* copy = find(result.column, "copy", "copy", result.size);
  const auto times = ratio(copy, &result);
  if (!times || !(copy->bytes > 0) || !(result.bytes > 0)) return std::nullopt;
  return result.bytes / copy->bytes * *times;
}

std::optional<double> Record::to_yardstick(const Result& result) const noexcept {
  return ratio(&result, find(result.column, result.suite, result.yardstick, result.size));
}

std::string record_text(const Record& record) {
  Json json{{"schema", schema},           {"version", record_version}, {"program", record.program},
            {"date", record.date},        {"command", record.command}, {"host", record.host},
            {"hot", record.settings.hot}, {"columns", Json::array()},  {"results", Json::array()},
            {"failures", Json::array()},  {"notes", record.notes}};
  for (const Column& column : record.columns) json["columns"].push_back(column_json(column));
  for (const Result& result : record.results) {
    json["results"].push_back(result_json(record, result));
  }
  for (const Failure& failure : record.failures) {
    json["failures"].push_back({{"column", failure.column},
                                {"suite", failure.suite},
                                {"case", failure.name},
                                {"size", size_json(failure.size)},
                                {"reason", failure.reason}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Record read_record(const std::string& option, const std::filesystem::path& file) {
  const auto refuse = [&](const std::string& why) {
    return UsageError(fmt::format("{} {}: {}", option, file.string(), why));
  };
  // The JSON library copies and prints values recursively, so deeply nested ones would exhaust the
  // stack.
  const auto limit_depth = [&](int depth, Json::parse_event_t /*event*/, Json& /*value*/) {
    constexpr int max_depth = 16;
    if (depth > max_depth)
      throw refuse(fmt::format("is damaged: it is nested {} levels deep", depth));
    return true;
  };
  const Json json = Json::parse(text_of(option, file), limit_depth, false);
  if (!json.is_object() || json.value("schema", Json()) != schema) {
    throw refuse("is not a record written by 'warpalign bench --json'");
  }
  if (json.value("version", Json()) != record_version) {
    throw refuse(
        fmt::format("is a record of version {}, but only version {} is supported; make it "
                    "again with this program",
                    json.value("version", Json()).dump(), record_version));
  }
  try {
    return record_from(json);
  } catch (const nlohmann::json::exception& error) {
    throw refuse(fmt::format("is damaged: {}", error.what()));
  }
}

}  // namespace warpalign::program::bench
