// Locates the journal of a run of `mosaic`, and identifies the run.
#pragma once

#include "commands/mosaic_journal.hpp"
#include "commands/mosaic_options.hpp"
#include "io/mosaic/tile_files.hpp"

#include <memory>
#include <vector>

namespace warpalign::program {

/// Throws UsageError if there is no output next to which --resume can keep its journal.
void check_mosaic_resumable(const MosaicChoices& choices);

/// Opens the journal of this run. Returns null without --resume. Throws FileError.
[[nodiscard]] std::unique_ptr<MosaicJournal> open_mosaic_journal(
    const MosaicChoices& choices, const TileFiles& files, const std::vector<Point>& positions);

}  // namespace warpalign::program
