// The exit status of a mosaic.
#pragma once

#include "options/exit_status.hpp"
#include "reports/mosaic_lines.hpp"

namespace warpalign::program {

/// M: Mosaic or VolumeMosaic.
template <class M>
[[nodiscard]] ExitStatus mosaic_status(const M& mosaic) {
  const bool none = tiles_by_stage(mosaic) == mosaic.tiles.size();
  return none || components_of_several(mosaic) > 1 ? ExitStatus::unreliable : ExitStatus::ok;
}

}  // namespace warpalign::program
