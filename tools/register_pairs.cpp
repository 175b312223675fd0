// Registers listed pairs of pictures in one process, several at a time, and writes one line of JSON
// for each. Not a test: benchmarks/real_pairs lists the pairs and judges the lines.
//
//   register_pairs LIST.json [--device cuda:0,opencl] [--streams 8] [--seconds 60] [--limit 100]
//                  [--split all] [the options of `warpalign register` that say how] > lines.jsonl
//
// LIST.json is an array of objects with the members name, reference and moving, and where there are
// any reference_mask and moving_mask: files beside the list.
#include "io/image_file.hpp"
#include "io/luminance.hpp"
#include "io/registrable_image.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"
#include "options/registration_options.hpp"
#include "reports/registration_report.hpp"

#include <warpalign/batch.hpp>
#include <warpalign/open_device.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace warpalign;
using namespace warpalign::program;
using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string list;
  std::vector<std::string> devices{""};
  int streams = 8;
  double seconds = 0;
  std::optional<int> limit;
  std::string split = "all";
  RegistrationChoices choices;
};

struct ListedPair {
  std::string name, reference, moving;
  std::optional<std::string> reference_mask, moving_mask;
};

std::optional<std::string> member(const ordered_json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? std::nullopt : std::optional(found->get<std::string>());
}

std::vector<ListedPair> read_list(const Options& options) {
  std::ifstream file(options.list);
  if (!file) throw FileError(options.list + ": cannot be read");
  std::vector<ListedPair> pairs;
  for (const ordered_json& entry : ordered_json::parse(file)) {
    if (options.split != "all" && entry.at("split") != options.split) continue;
    if (options.limit && pairs.size() == static_cast<std::size_t>(*options.limit)) break;
    pairs.push_back({entry.at("name"), entry.at("reference"), entry.at("moving"),
                     member(entry, "reference_mask"), member(entry, "moving_mask")});
  }
  return pairs;
}

/// Every picture and mask of the list, read once: what is measured are registrations.
class Pictures {
 public:
  Pictures(const std::filesystem::path& folder, const std::vector<ListedPair>& pairs) {
    for (const ListedPair& pair : pairs) {
      add(folder, pair.reference, pair.reference_mask);
      add(folder, pair.moving, pair.moving_mask);
    }
  }
  [[nodiscard]] HostPair host_pair(const ListedPair& pair) const {
    HostPair result{view_of(files_.at(pair.reference)), view_of(files_.at(pair.moving))};
    if (pair.reference_mask) result.reference_mask = view_of(files_.at(*pair.reference_mask));
    if (pair.moving_mask) result.moving_mask = view_of(files_.at(*pair.moving_mask));
    return result;
  }

 private:
  void add(const std::filesystem::path& folder, const std::string& image,
           const std::optional<std::string>& mask) {
    if (!files_.contains(image)) {
      const LoadedImage loaded = load_registrable(folder / image);
      files_[image] = Luminance(loaded).image();
    }
    if (!mask || files_.contains(*mask)) return;
    files_[*mask] = load_mask(folder / *mask, files_[image].shape(), image);
  }
  std::map<std::string, LoadedImage> files_;
};

/// What `warpalign register --json` says of the pair, after its name, in one line.
std::string line_of(const ListedPair& pair, const BatchResult& outcome,
                    const RegistrationOptions& options) {
  ordered_json line{{"name", pair.name}};
  if (outcome.error) {
    line["error"] = outcome.error->what();
  } else {
    RegistrationReport report;
    report.settings = options;
    report.result = *outcome.result;
    line.update(ordered_json::parse(json_text(report)));
    for (const char* unknown : {"device", "backend", "timings_ms"}) line.erase(unknown);
  }
  return line.dump() + "\n";
}

/// Writes lines until the time is over, and counts.
class Lines {
 public:
  Lines(const std::vector<ListedPair>& pairs, const Options& options)
      : pairs_(pairs),
        settings_(registration_options_of(options.choices)),
        seconds_(options.seconds) {}
  bool take(std::size_t index, const BatchResult& outcome) {
    fmt::print("{}", line_of(pairs_[index], outcome, settings_));
    std::fflush(stdout);
    ++registered_;
    reliable_ += outcome.result && outcome.result->reliable ? 1 : 0;
    refused_ += outcome.error ? 1 : 0;
    return seconds_ <= 0 || elapsed() < seconds_;
  }
  [[nodiscard]] const RegistrationOptions& settings() const { return settings_; }
  [[nodiscard]] std::string summary() const {
    return fmt::format("{} of {} pairs, {} reliable, {} not registered, {:.1f} s, {:.1f} a second",
                       registered_, pairs_.size(), reliable_, refused_, elapsed(),
                       registered_ / elapsed());
  }

 private:
  [[nodiscard]] double elapsed() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }
  const std::vector<ListedPair>& pairs_;
  RegistrationOptions settings_;
  double seconds_;
  Clock::time_point begin_ = Clock::now();
  int registered_ = 0, reliable_ = 0, refused_ = 0;
};

void run(const Options& options) {
  const std::vector<ListedPair> pairs = read_list(options);
  const Pictures pictures(std::filesystem::path(options.list).parent_path(), pairs);
  std::vector<Device> devices;
  for (const std::string& name : options.devices) devices.push_back(open_device(name));
  Lines lines(pairs, options);
  align_batch(
      devices, pairs.size(), [&](std::size_t i) { return pictures.host_pair(pairs[i]); },
      [&](std::size_t i, const BatchResult& outcome) { return lines.take(i, outcome); },
      lines.settings(), {options.streams});
  const DeviceInfo& info = devices.front().info();
  fmt::print(stderr, "{} ({}, driver {}): {}\n", info.name, info.platform, info.driver,
             lines.summary());
}

bool parse(int argc, char** argv, Options& options) {
  CommandLine line("register_pairs", "Registers listed pairs of pictures, one line of JSON each");
  CLI::App& command = line.program();
  add_option(command, "LIST", &options.list, "JSON: an array of pairs", required);
  add_option(command, "--device NAME", &options.devices, "Devices; default: the best", comma_list);
  add_option(command, "--streams N", &options.streams, "Workers of each device", with_default);
  add_option(command, "--seconds S", &options.seconds, "Stop after so long; 0: at the list's end",
             with_default);
  add_option(command, "--limit N", &options.limit, "Only the first so many pairs");
  add_option(command, "--split NAME", &options.split, "tune, held_back or all", with_default);
  add_registration_options(command, options.choices, MotionsOffered::all);
  return line.parse(argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  try {
    if (parse(argc, argv, options)) run(options);
    return 0;
  } catch (const UsageError& error) {
    fmt::print(stderr, "register_pairs: {}\n", error.what());
    return 2;
  } catch (const FileError& error) {
    fmt::print(stderr, "register_pairs: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "register_pairs: {}\n", error.what());
    return 3;
  }
}
