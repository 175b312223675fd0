// The options of `warpalign stack` that only series of volumes have.
#include "commands/volume_series_options.hpp"

#include "io/usage_error.hpp"
#include "options/command_line.hpp"

#include <fmt/format.h>

namespace warpalign::program {

void add_volume_series_options(CLI::App& command, VolumeSeriesChoices& choices) {
  begin_group(command, "Series of volumes");
  add_option(
      command, "--mean FILE", &choices.mean,
      "Write the mean of the aligned volumes (.nii, .nii.gz, .npy; of recordings also .tif)");
  add_option(
      command, "--spacing Z,Y,X", &choices.spacing,
      "Distances between voxels, in millimetres, of recordings in micrometres [from the file, "
      "else 1]");
  add_option(command, "--radius MM", &choices.radius,
             "Radius of the sphere on which framewise displacement measures rotations [50; of "
             "recordings half of the longest side]");
  add_option(command, "--transforms FOLDER", &choices.transforms,
             "Write the transform from the reference to each volume (.npz)");
}

void refuse_volume_series_options(const VolumeSeriesChoices& choices) {
  const char* given = choices.mean         ? "--mean"
                      : choices.spacing    ? "--spacing"
                      : choices.radius     ? "--radius"
                      : choices.transforms ? "--transforms"
                                           : nullptr;
  if (given == nullptr) return;
  throw UsageError(fmt::format(
      "{}: is for series of volumes (NIfTI, or --z all), and the frames are images", given));
}

}  // namespace warpalign::program
