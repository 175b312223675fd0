// The evaluation's command line.
#include "evaluate/options.hpp"

#include "accuracy/recipe.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <map>
#include <numeric>

namespace accuracy {

namespace {

std::size_t group_number(const std::string& name) {
  const auto& groups = all_groups();
  const auto found = std::find_if(groups.begin(), groups.end(),
                                  [&](const Group& group) { return group.name == name; });
  if (found != groups.end()) return static_cast<std::size_t>(found - groups.begin());
  std::string names;
  for (const Group& group : groups) names += std::string(names.empty() ? "" : ", ") + group.name;
  throw CLI::ValidationError("group '" + name + "'", "there is none; there are " + names);
}

std::vector<std::size_t> group_numbers(const std::vector<std::string>& names) {
  std::vector<std::size_t> numbers(names.empty() ? all_groups().size() : names.size());
  if (names.empty()) {
    std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  } else {
    std::transform(names.begin(), names.end(), numbers.begin(), group_number);
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

/// "scale4:17"
void take_only(const std::string& text, Options& options) {
  const std::size_t colon = text.find(':');
  const std::string index = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (index.empty() || index.size() > 9 ||
      index.find_first_not_of("0123456789") != std::string::npos) {
    throw CLI::ValidationError("--only " + text, "write GROUP:INDEX, such as scale4:17");
  }
  options.groups = {group_number(text.substr(0, colon))};
  options.only = std::stoul(index);
}

/// The call as a record names it. Options that name files say nothing about what was measured.
std::string command_of(int argc, char** argv) {
  std::string command = "evaluate";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--json" || word == "--plot") {
      ++i;
    } else if (!word.starts_with("--json=") && !word.starts_with("--plot=")) {
      command += " " + word;
    }
  }
  return command;
}

}  // namespace

ParsedOptions parse_options(int argc, char** argv) {
  Options options;
  options.command = command_of(argc, argv);
  std::vector<std::string> groups;
  std::string only;
  const std::map<std::string, Use> uses{
      {"tune", Use::tune}, {"report", Use::report}, {"all", Use::all}};

  const std::map<std::string, warpalign::Motion> motions{
      {"similarity", warpalign::Motion::similarity},
      {"affine", warpalign::Motion::affine},
      {"homography", warpalign::Motion::homography},
      {"auto", warpalign::Motion::automatic}};

  CLI::App app("Registers pairs with exactly known truth and reports the errors");
  app.add_option("--device", options.device, "cuda:0, opencl:pocl, ...; default: the best");
  app.add_option("--groups", groups, "which groups, separated by commas; default: all")
      ->delimiter(',');
  app.add_option("--originals", options.originals_name, "tune, report or all")
      ->check(CLI::IsMember({"tune", "report", "all"}))
      ->capture_default_str();
  app.add_option("--motion", options.motion_name, "similarity, affine, homography or auto")
      ->check(CLI::IsMember({"similarity", "affine", "homography", "auto"}))
      ->capture_default_str();
  app.add_option("--pairs", options.pairs, "pairs of each group")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "another seed, other pairs")->capture_default_str();
  app.add_option("--size", options.size, "the pictures' sides, 192 to 2048 pixels")
      ->check(CLI::Range(192, 2048))
      ->capture_default_str();
  auto* one = app.add_option("--only", only, "one pair alone: GROUP:INDEX");
  one->excludes("--groups")->excludes("--pairs");
  app.add_flag("--verbose", options.verbose, "a line for every pair");
  app.add_option("--json", options.json, "write the results into FILE");
  app.add_option("--plot", options.plot, "write a plot of the errors into FILE, as SVG");
  app.add_option("--dump", options.dump,
                 "write the pairs into FOLDER, and register none: see peers.py")
      ->excludes("--json")
      ->excludes("--plot");
  try {
    app.parse(argc, argv);
    options.originals = uses.at(options.originals_name);
    options.motion = motions.at(options.motion_name);
    if (only.empty()) {
      options.groups = group_numbers(groups);
    } else {
      take_only(only, options);
    }
  } catch (const CLI::ParseError& error) {
    return {std::nullopt, app.exit(error) == 0 ? 0 : 2};
  }
  return {options, 0};
}

}  // namespace accuracy
