// Registers pairs with exactly known truth and reports the errors. Not a test: docs/accuracy.md
// says what it printed. See README.md.
#include "accuracy/pair.hpp"
#include "bench/host_info.hpp"
#include "evaluate/dump.hpp"
#include "evaluate/options.hpp"
#include "evaluate/report.hpp"
#include "evaluate/score.hpp"
#include "io/atomic_file.hpp"
#include "io/image_file.hpp"
#include "io/progress.hpp"

#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>
#include <warpalign/registrar.hpp>
#include <warpalign/version.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <exception>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace accuracy;
using nlohmann::ordered_json;
using warpalign::HostImage;
using warpalign::PixelType;

HostImage view(const Picture& picture) {
  return {picture.pixels.data(), PixelType::u8, picture.shape.width, picture.shape.height};
}

/// The time that a user with images in host memory waits: both uploads and everything else.
class Subject {
 public:
  Subject(const warpalign::Device& device, warpalign::Motion motion)
      : registrar_(device, options_of(motion)) {}

  Answer answer(const Pair& pair) {
    const auto& r = pair.reference.shape;
    const auto& m = pair.moving.shape;
    const bool new_sizes = seen_.insert({r.width, r.height, m.width, m.height}).second;
    if (new_sizes) (void)timed(pair);  // makes plans, compiles kernels
    return timed(pair);
  }

 private:
  static warpalign::RegistrationOptions options_of(warpalign::Motion motion) {
    warpalign::RegistrationOptions options;
    options.motion = motion;
    return options;
  }

  Answer timed(const Pair& pair) {
    Answer answer;
    const auto start = std::chrono::steady_clock::now();
    try {
      registrar_.set_reference(view(pair.reference));
      const auto found = registrar_.align(view(pair.moving));
      answer.found = true;
      answer.reliable = found.reliable;
      answer.confidence = found.confidence;
      answer.significance = found.significance;
      answer.similarity = found.similarity;
      answer.matrix = found.homography;
      answer.richer = found.motion == warpalign::Motion::affine ||
                      found.motion == warpalign::Motion::homography;
    } catch (const warpalign::Error& error) {
      if (error.kind() != warpalign::ErrorKind::invalid_image) throw;
      answer.failure = error.what();
    }
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    answer.milliseconds = time.count();
    return answer;
  }

  warpalign::Registrar registrar_;
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>> seen_;
};

using Visit = std::function<void(const Group& group, std::size_t index, const Pair& pair)>;

void visit_pairs(const Options& options, const Originals& originals, std::size_t group,
                 const Visit& visit) {
  const std::size_t first = options.only.value_or(0);
  const std::size_t last = options.only ? first + 1 : options.pairs;
  for (std::size_t index = first; index < last; ++index) {
    visit(all_groups()[group], index,
          make_pair(originals, {options.seed, group, index}, options.size));
  }
}

ordered_json about(const Options& options) {
  return {{"originals", options.originals_name},
          {"motion", options.motion_name},
          {"pairs_per_group", options.only ? 1 : options.pairs},
          {"seed", options.seed},
          {"size", options.size}};
}

std::size_t number_of_pairs(const Options& options) {
  return options.groups.size() * (options.only ? 1 : options.pairs);
}

void dump_pairs(const Options& options, const Originals& originals) {
  Dump dump(options.dump);
  warpalign::program::Progress progress(number_of_pairs(options));
  for (const std::size_t group : options.groups) {
    visit_pairs(options, originals, group, [&](const Group& of, std::size_t i, const Pair& pair) {
      progress.next(of.name);
      dump.add(of.name, i, pair);
    });
  }
  dump.commit(about(options));
}

GroupResult evaluate_group(const Options& options, const Originals& originals, std::size_t group,
                           Subject& subject, warpalign::program::Progress& progress) {
  GroupResult result{all_groups()[group].name, all_groups()[group].content, {}};
  visit_pairs(options, originals, group, [&](const Group& of, std::size_t i, const Pair& pair) {
    progress.next(of.name);
    const Answer answer = subject.answer(pair);
    result.scores.push_back(score_of(pair, i, answer));
    if (options.verbose || options.only) {
      fmt::print("{}", pair_line(of.name, pair, result.scores.back(), answer));
    }
  });
  return result;
}

/// An optional text file. It is opened before the work, so that a name that cannot be written to is
/// noticed at once.
class TextFile {
 public:
  explicit TextFile(const std::string& path) {
    if (!path.empty()) file_.emplace(path);
  }
  template <class MakeText>
  void commit(MakeText&& make_text) {
    if (!file_) return;
    const std::string text = make_text();
    file_->write(std::as_bytes(std::span(text)));
    file_->commit();
  }

 private:
  std::optional<warpalign::program::AtomicFile> file_;
};

ordered_json results_json(const Options& options, const warpalign::DeviceInfo& device,
                          const std::vector<GroupResult>& results) {
  ordered_json json{{"method", "warpalign"},
                    {"program", fmt::format("warpalign {}", warpalign::version())},
                    {"date", warpalign::program::bench::now_utc()},
                    {"command", options.command},
                    {"host", warpalign::program::bench::describe_host()},
                    {"device", device.id},
                    {"device_name", device.name},
                    {"platform", device.platform},
                    {"driver", device.driver}};
  json.update(about(options));
  json["groups"] = groups_json(results);
  return json;
}

void evaluate(const Options& options, const Originals& originals) {
  TextFile json(options.json);
  TextFile plot(options.plot);
  const auto device = warpalign::open_device(options.device);
  Subject subject(device, options.motion);
  const auto& info = device.info();
  fmt::print("{}: {}; originals: {}; motion {}; size {}; seed {}\n", info.id, info.name,
             options.originals_name, options.motion_name, options.size, options.seed);
  std::vector<GroupResult> results;
  {
    warpalign::program::Progress progress(number_of_pairs(options));
    for (const std::size_t group : options.groups) {
      results.push_back(evaluate_group(options, originals, group, subject, progress));
    }
  }
  fmt::print("{}", table_head());
  for (const GroupResult& group : results) {
    fmt::print("{}", table_row(group.name, summary_of(group.scores)));
  }
  json.commit([&] { return results_json(options, info, results).dump(1) + "\n"; });
  plot.commit([&] { return error_plot(results); });
}

}  // namespace

int main(int argc, char** argv) {
  const auto parsed = parse_options(argc, argv);
  if (!parsed.options) return parsed.exit_status;
  const Options& options = *parsed.options;
  try {
    const Originals originals(options.originals, options.size);
    if (options.dump.empty()) {
      evaluate(options, originals);
    } else {
      dump_pairs(options, originals);
    }
    return 0;
  } catch (const warpalign::program::FileError& error) {
    fmt::print(stderr, "evaluate: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "evaluate: {}\n", error.what());
    return 3;
  }
}
