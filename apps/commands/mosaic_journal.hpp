// The journal of `mosaic --resume`, which records the registration of each pair so that a later run
// need not repeat it.
#pragma once

#include "commands/journal_file.hpp"

#include <warpalign/mosaic.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpalign::program {

/// The journal's line of a pair, without a newline. Numbers are written without loss.
[[nodiscard]] std::string record_line(const PairRecord& record);
/// The inverse. Returns nothing for an invalid line.
[[nodiscard]] std::optional<PairRecord> parse_record_line(std::string_view line);

/// What a run depends on.
struct MosaicRun {
  RunFingerprint fingerprint;         ///< without the state of the tiles' files
  std::vector<std::uint64_t> stamps;  ///< the state of each tile's file
};

/// Appends a line for each pair. If tiles were replaced since, only the pairs of the first batch
/// whose tiles are the same remain. A journal without pairs is removed at the end.
class MosaicJournal {
 public:
  /// Opens or creates the journal. Throws FileError if it belongs to another run, or if another
  /// process has it open.
  MosaicJournal(const std::filesystem::path& path, const MosaicRun& run);
  MosaicJournal(const MosaicJournal&) = delete;
  MosaicJournal& operator=(const MosaicJournal&) = delete;
  ~MosaicJournal();

  /// What earlier runs measured.
  [[nodiscard]] const MosaicRecords& records() const { return records_; }

  /// Throws FileError.
  void append(const PairRecord& record);
  void append(const TileDistortion& distortion);
  void remove() noexcept;

 private:
  /// Reads the valid lines. Returns where they end, and whether all tiles are the same.
  struct Scan;
  void keep_pairs_of_same_tiles(const Scan& scan, const MosaicRun& run);

  JournalFile file_;
  MosaicRecords records_;
  bool has_pairs_ = false;
  bool is_removed_ = false;
};

}  // namespace warpalign::program
