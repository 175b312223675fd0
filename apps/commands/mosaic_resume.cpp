// Locates the journal of a run of `mosaic`, and identifies the run.
#include "commands/mosaic_resume.hpp"

#include "commands/file_stamp.hpp"
#include "io/image_name.hpp"
#include "io/usage_error.hpp"

#include <warpalign/version.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string>

namespace warpalign::program {
namespace {

/// The first output with a name. The journal lies next to it.
std::optional<std::string> first_output(const MosaicChoices& choices) {
  for (const auto* name : {&choices.output, &choices.json, &choices.located, &choices.page}) {
    if (*name) return **name;
  }
  return {};
}

std::uint64_t stamp_of(const std::string& tile) {
  Checksum checksum;
  add_file(checksum, image_name(tile).file.string());
  return checksum.value();
}

/// The device and the names of the outputs are not part of it.
MosaicRun run_of(const MosaicChoices& choices, const TileFiles& files,
                 const std::vector<Point>& positions) {
  Checksum inputs;
  inputs.add(files.description());
  MosaicRun run;
  for (std::size_t i = 0; i < files.size(); ++i) {
    inputs.add(fmt::format("{} {:a} {:a}", files.name(i), positions[i].x, positions[i].y));
    run.stamps.push_back(stamp_of(files.path(i)));
  }
  Checksum chosen;
  chosen.add(warpalign::version());
  const MosaicOptions options = mosaic_options_of(choices);
  chosen.add(fmt::format("{} {:a} {:a} {}", options.positions_known, options.max_error,
                         options.min_confidence, options.estimate_distortion));
  if (options.motion != Motion::translation) chosen.add(choices.motion);
  if (estimates_flat_field(choices)) {
    chosen.add("auto");
    // It depends on all tiles.
    for (const std::uint64_t stamp : run.stamps) inputs.add(fmt::format("{}", stamp));
  } else if (choices.flat_field) {
    add_file(chosen, *choices.flat_field);
  }
  if (choices.dark) add_file(chosen, *choices.dark);
  if (choices.nodata) chosen.add(fmt::format("{:a}", *choices.nodata));
  run.fingerprint = {inputs.value(), chosen.value()};
  return run;
}

}  // namespace

void check_mosaic_resumable(const MosaicChoices& choices) {
  if (!choices.resume || first_output(choices)) return;
  throw UsageError(
      "--resume: needs an output, next to which it keeps its journal; add one, such as --json");
}

std::unique_ptr<MosaicJournal> open_mosaic_journal(const MosaicChoices& choices,
                                                   const TileFiles& files,
                                                   const std::vector<Point>& positions) {
  if (!choices.resume) return {};
  return std::make_unique<MosaicJournal>(*first_output(choices) + ".journal",
                                         run_of(choices, files, positions));
}

}  // namespace warpalign::program
