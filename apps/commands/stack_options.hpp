// The options of `warpalign stack`, checked before any file is opened.
#pragma once

#include "commands/known_drift.hpp"
#include "commands/registered_image.hpp"
#include "commands/volume_series_options.hpp"
#include "options/common_options.hpp"
#include "options/local_options.hpp"
#include "options/registration_options.hpp"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace warpalign::program {

struct StackOptions {
  std::vector<std::string> files;  ///< as typed, then as returned by input_files()
  std::optional<int> channel;
  std::optional<std::string> weights;  ///< of the channels
  std::optional<std::string> slice;    ///< a number, max or mean
  bool only_channel = false;
  bool only_slice = false;
  std::optional<std::string> axes;
  bool bidirectional = false;
  std::optional<double> line_offset;
  std::optional<std::string> align_channels;
  std::optional<std::string> apply;
  std::optional<std::string> crop_at;
  std::string to = "first";
  std::optional<std::string> folder;
  std::optional<std::string> output;
  std::optional<std::string> field;
  std::optional<std::string> video;
  std::optional<std::string> csv;
  std::optional<std::string> json;
  std::optional<std::string> plot;
  std::optional<std::string> page;
  std::optional<std::string> mask;
  std::optional<std::string> initial;
  std::optional<std::string> fixed_pattern;  ///< auto or off
  std::optional<double> nodata;
  bool resume = false;
  std::optional<std::string> shard;
  RegistrationChoices choices;
  LocalChoices local;
  VolumeSeriesChoices volumes;
  DeviceOptions device;
};

void add_stack_options(CLI::App& command, StackOptions& options);

/// By which channels and planes frames are registered. Throws UsageError.
[[nodiscard]] RegisteredBy registered_by(const StackOptions& options);

/// Whether a pattern that is fixed to the sensor is looked for: by default, unless with --fast or
/// --apply. Throws UsageError for another value, and with these options.
[[nodiscard]] bool finds_fixed_pattern(const StackOptions& options);

/// The transforms that an earlier run has found, if --apply names them. `axes`: 2 for images, 3 for
/// volumes. Throws UsageError, also for options of a registration, which is then not run.
[[nodiscard]] std::optional<KnownDriftChoice> known_drift_choice(const StackOptions& options,
                                                                 std::size_t axes = 2);

/// Throws UsageError or FileError for invalid names: an output that would overwrite an input or
/// another output, or an extension of an unknown format.
void check_stack_names(const StackOptions& options);

}  // namespace warpalign::program
