// The evaluation's command line.
#pragma once

#include "accuracy/originals.hpp"

#include <warpalign/registrar.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace accuracy {

struct Options {
  std::string device;               ///< empty: the best there is
  std::vector<std::size_t> groups;  ///< in all_groups(), in its order
  Use originals = Use::report;
  std::string originals_name = "report";
  warpalign::Motion motion = warpalign::Motion::similarity;
  std::string motion_name = "similarity";
  std::size_t pairs = 12;
  std::uint64_t seed = 1;
  std::int64_t size = 512;
  std::optional<std::size_t> only;  ///< the one pair to run, of the one group
  bool verbose = false;
  std::string command;  ///< what was called, without the files that it writes
  std::string json;     ///< file names; empty: not wanted
  std::string plot;
  std::string dump;
};

/// Returns the options, or the status to exit with (after `--help`, or a message for bad usage).
struct ParsedOptions {
  std::optional<Options> options;
  int exit_status = 0;
};
[[nodiscard]] ParsedOptions parse_options(int argc, char** argv);

}  // namespace accuracy
