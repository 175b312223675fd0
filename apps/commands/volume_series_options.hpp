// The options of `warpalign stack` that only series of volumes have.
#pragma once

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace warpalign::program {

/// The options as typed, unchecked.
struct VolumeSeriesChoices {
  std::optional<std::string> mean;
  std::optional<std::string> spacing;
  std::optional<double> radius;
  std::optional<std::string> transforms;
};

void add_volume_series_options(CLI::App& command, VolumeSeriesChoices& choices);

/// Throws UsageError if an option of volumes was given: the frames are images.
void refuse_volume_series_options(const VolumeSeriesChoices& choices);

}  // namespace warpalign::program
