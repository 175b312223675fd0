// `warpalign mosaic` of tiles that are volumes.
#pragma once

#include "commands/mosaic_options.hpp"
#include "options/exit_status.hpp"

namespace warpalign::program {

/// Whether --positions names a CSV file with a column z, and its first tile is a volume. Files that
/// cannot be read are none. Throws UsageError for a NIfTI volume or an array without a column z.
[[nodiscard]] bool are_volume_tiles(const MosaicChoices& choices);

/// Locates and fuses such tiles. Throws UsageError for options that only images have, FileError,
/// and the library's errors.
[[nodiscard]] ExitStatus run_volume_mosaic(const MosaicChoices& choices);

}  // namespace warpalign::program
