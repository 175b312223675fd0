// Random cases of properties that always hold, modelled on oneDNN's benchdnn. For a failing case
// it prints the command that repeats it.
#define DOCTEST_CONFIG_IMPLEMENT  // for the tests' support library, without its main()
#include "properties/trial.hpp"

#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>

#include <doctest/doctest.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace {

using namespace properties;
using Clock = std::chrono::steady_clock;

constexpr const char* usage =
    "usage: test_properties [--seed N] [--cases N] [--seconds N] [--stage NAME] [--device "
    "NAME]...\n"
    "                       [--case N]\n"
    "  --cases N    of each property [20]\n"
    "  --seconds N  end after so long, but not before a case of each [no limit]\n"
    "  --stage      only properties whose stage has this name\n"
    "  --device     as open_device takes it; several are used at once\n"
    "               [WARPALIGN_TEST_DEVICES, or PoCL]\n"
    "  --case       only this case of each property\n";

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t cases = 20;
  std::optional<std::uint64_t> only;
  double seconds = 0;
  std::string stage;
  std::vector<std::string> devices;
};

[[noreturn]] void refuse(const std::string& text) {
  std::fprintf(stderr, "test_properties: %s\n%s", text.c_str(), usage);
  std::exit(2);
}

std::uint64_t number_of(const std::string& text) {
  char* end = nullptr;
  const std::uint64_t number = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0') refuse("'" + text + "' is no number");
  return number;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (i + 1 >= argc) refuse(std::string(name) + " needs a value");
    const std::string value = argv[i + 1];
    if (name == "--seed") {
      options.seed = number_of(value);
    } else if (name == "--cases") {
      options.cases = number_of(value);
    } else if (name == "--case") {
      options.only = number_of(value);
    } else if (name == "--seconds") {
      options.seconds = static_cast<double>(number_of(value));
    } else if (name == "--stage") {
      options.stage = value;
    } else if (name == "--device") {
      options.devices.push_back(value);
    } else {
      refuse("there is no option " + std::string(name));
    }
  }
  return options;
}

std::vector<std::string> split(const std::string& names) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= names.size()) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    parts.push_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<warpalign::Device> open_all(Options& options) {
  if (options.devices.empty()) {
    const char* named = std::getenv("WARPALIGN_TEST_DEVICES");
    options.devices = split(named == nullptr || *named == '\0' ? "opencl:portable" : named);
  }
  std::vector<warpalign::Device> devices;
  for (const std::string& name : options.devices) devices.push_back(warpalign::open_device(name));
  for (const auto& device : devices) {
    std::printf("[device] %s: %s, %s\n", device.info().id.c_str(), device.info().name.c_str(),
                device.info().platform.c_str());
  }
  return devices;
}

std::vector<Property> all_properties(const std::string& stage) {
  std::vector<Property> all;
  for (const auto& group :
       {filter_properties(),        smoothing_properties(),     window_properties(),
        overlap_properties(),       common_frames_properties(), spline_properties(),
        interpolation_properties(), spectrum_properties(),      signal_properties(),
        correlation_properties(),   refinement_properties(),    illumination_properties(),
        fit_step_properties(),      frame_sums_properties(),    warp_properties(),
        volume_stage_properties(),  volume_sums_properties(),   features_properties(),
        registration_properties(),  any_pair_properties()}) {
    for (const Property& property : group) {
      if (stage.empty() || property.stage == stage) all.push_back(property);
    }
  }
  if (all.empty()) refuse("there is no stage " + stage);
  return all;
}

/// Each case has its own seed, independent of earlier cases.
std::uint64_t seed_of(std::uint64_t seed, const Property& property, std::uint64_t number) {
  std::uint64_t hash = 1469598103934665603U ^ seed;  // FNV-1a
  const auto mix = [&hash](std::uint64_t byte) { hash = (hash ^ byte) * 1099511628211U; };
  for (const char letter : property.stage + "/" + property.name) {
    mix(static_cast<unsigned char>(letter));
  }
  for (int shift = 0; shift < 64; shift += 8) mix((number >> shift) & 255U);
  return hash;
}

struct Count {
  std::uint64_t cases = 0;
  std::uint64_t failed = 0;
  double worst = 0;
};

class Run {
 public:
  Run(const Options& options, const std::vector<warpalign::Device>& devices)
      : options_(options), devices_(devices) {}

  /// Runs one case of each property in turn, so that even a run that is cut short has tested all
  /// of them, despite the time that compilation takes.
  void run(const std::vector<Property>& properties) {
    const std::uint64_t first = options_.only.value_or(0);
    const std::uint64_t end = options_.only ? first + 1 : options_.cases;
    for (std::uint64_t number = first; number < end; ++number) {
      for (const Property& property : properties) {
        if (number > first && is_over()) return;
        run_case(property, number);
      }
    }
  }

  int summary() const {
    std::uint64_t cases = 0;
    std::uint64_t failed = 0;
    for (const auto& [name, count] : counts_) {
      std::printf("%-48s %8llu cases, worst error %.3f of the tolerance%s\n", name.c_str(),
                  static_cast<unsigned long long>(count.cases), count.worst,
                  count.failed == 0 ? "" : ", FAILED");
      cases += count.cases;
      failed += count.failed;
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    std::printf("seed %llu: %llu cases, %llu failed, %.0f s\n",
                static_cast<unsigned long long>(options_.seed),
                static_cast<unsigned long long>(cases), static_cast<unsigned long long>(failed),
                seconds);
    return failed == 0 ? 0 : 1;
  }

 private:
  [[nodiscard]] bool is_over() const {
    return options_.seconds > 0 &&
           std::chrono::duration<double>(Clock::now() - begin_).count() > options_.seconds;
  }

  void run_case(const Property& property, std::uint64_t number) {
    Trial trial(seed_of(options_.seed, property, number), devices_);
    try {
      property.check(trial);
    } catch (const std::exception& exception) {
      trial.fail(exception.what());
    }
    Count& count = counts_[property.stage + ": " + property.name];
    ++count.cases;
    count.worst = std::max(count.worst, trial.worst());
    if (trial.wrong().empty()) return;
    ++count.failed;
    std::printf("FAILED %s: %s\n  %s\n  %s\n", property.stage.c_str(), property.name.c_str(),
                trial.description().c_str(), trial.wrong().c_str());
    std::printf("  again: test_properties --seed %llu --stage %s --case %llu",
                static_cast<unsigned long long>(options_.seed), property.stage.c_str(),
                static_cast<unsigned long long>(number));
    for (const std::string& name : options_.devices) std::printf(" --device %s", name.c_str());
    std::printf("\n");
    std::fflush(stdout);
  }

  const Options& options_;
  const std::vector<warpalign::Device>& devices_;
  std::map<std::string, Count> counts_;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

int main(int argc, char** argv) {
  try {
    Options options = parse(argc, argv);
    const std::vector<warpalign::Device> devices = open_all(options);
    Run run(options, devices);
    run.run(all_properties(options.stage));
    return run.summary();
  } catch (const warpalign::Error& error) {
    std::fprintf(stderr, "test_properties: %s\n", error.what());
    return 3;
  }
}
