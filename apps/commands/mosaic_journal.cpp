// The journal of `mosaic --resume`.
//
// Each line consists of words and a checksum. The first line identifies the run. A "tile" line says
// the state of a tile's file, a "pair" or "rotated" line describes a pair, the latter with the
// matrix of rotated tiles, and a "distortion" line the distortion that was estimated.
#include "commands/mosaic_journal.hpp"

#include "commands/journal_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>

namespace warpalign::program {
namespace {

constexpr std::string_view mosaic_kind = "warpalign-mosaic-journal 1";

constexpr std::array outcomes{PairOutcome::used,         PairOutcome::failed,
                              PairOutcome::unreliable,   PairOutcome::ambiguous,
                              PairOutcome::beyond_error, PairOutcome::contradicted};

std::array<double*, 9> numbers_of(PairRecord& record) {
  auto& [xx, xy, yy] = record.covariance;
  return {&record.expected.x, &record.expected.y, &record.shift.x, &record.shift.y, &xx, &xy, &yy,
          &record.confidence, &record.correlation};
}

/// What the record of a pair of rotated tiles has besides.
std::vector<double*> turn_numbers_of(PairRecord& record) {
  std::vector<double*> numbers;
  for (double& element : record.matrix.h) numbers.push_back(&element);
  for (std::array<double, 3>& corner : record.corners) {
    for (double& value : corner) numbers.push_back(&value);
  }
  return numbers;
}

/// Whether the record has a matrix: that of others is the identity.
bool is_rotated(const PairRecord& record) { return record.matrix.h != Homography().h; }

std::array<double*, 3 + 2 * TileDistortion::terms> numbers_of(TileDistortion& distortion) {
  std::array<double*, 3 + 2 * TileDistortion::terms> numbers{
      &distortion.center.x, &distortion.center.y, &distortion.radius};
  for (std::size_t i = 0; i < TileDistortion::terms; ++i) {
    numbers[3 + i] = &distortion.x[i];
    numbers[3 + TileDistortion::terms + i] = &distortion.y[i];
  }
  return numbers;
}

std::string distortion_line(TileDistortion distortion) {
  std::string line = "distortion";
  for (const double* number : numbers_of(distortion)) line += fmt::format(" {:a}", *number);
  return line;
}

std::optional<TileDistortion> parse_distortion_line(std::string_view line) {
  WordParser words(line);
  if (words.next() != "distortion") return {};
  TileDistortion distortion;
  for (double* number : numbers_of(distortion)) *number = words.number();
  if (!words.good()) return {};
  return distortion;
}

std::string tile_line(std::size_t tile, std::uint64_t stamp) {
  return fmt::format("tile {} {:016x}", tile, stamp);
}

}  // namespace

std::string record_line(const PairRecord& record) {
  PairRecord copy = record;
  std::string line = fmt::format("{} {} {} {} {} {} {}", is_rotated(record) ? "rotated" : "pair",
                                 record.batch, record.index, record.reference, record.moving,
                                 static_cast<int>(record.outcome), word_of(record.reason));
  for (const double* number : numbers_of(copy)) line += fmt::format(" {:a}", *number);
  if (is_rotated(record)) {
    for (const double* number : turn_numbers_of(copy)) line += fmt::format(" {:a}", *number);
  }
  return line;
}

std::optional<PairRecord> parse_record_line(std::string_view line) {
  WordParser words(line);
  const std::string kind(words.next());
  if (kind != "pair" && kind != "rotated") return {};
  PairRecord record;
  record.batch = words.index();
  record.index = words.index();
  record.reference = words.index();
  record.moving = words.index();
  const std::size_t outcome = words.index();
  if (outcome >= outcomes.size()) return {};
  record.outcome = static_cast<PairOutcome>(outcome);
  record.reason = words.text();
  for (double* number : numbers_of(record)) *number = words.number();
  if (kind == "rotated") {
    for (double* number : turn_numbers_of(record)) *number = words.number();
  }
  if (!words.good()) return {};
  return record;
}

struct MosaicJournal::Scan {
  Scan(const std::filesystem::path& path, const MosaicRun& run) : changed(run.stamps.size(), true) {
    std::ifstream file(path, std::ios::binary);
    std::string header;
    std::size_t tiles = 0;
    for (std::string line; std::getline(file, line) && !file.eof();) {
      const std::optional<std::string> content = unsealed(line);
      if (!content) break;
      if (end == 0) header = *content;
      end += line.size() + 1;
      if (content->starts_with("tile ") && tiles < changed.size()) {
        changed[tiles] = *content != tile_line(tiles, run.stamps[tiles]);
        ++tiles;
      } else if (const std::optional<PairRecord> record = parse_record_line(*content)) {
        const std::size_t last = std::max(record->reference, record->moving);
        if (last < changed.size()) records.pairs.push_back(*record);
      } else if (const auto distortion = parse_distortion_line(*content)) {
        records.distortion = distortion;
      }
    }
    const std::string wanted = journal_header(mosaic_kind, run.fingerprint);
    if (end > 0 && header != wanted) {
      if (!records.pairs.empty()) refuse_other_run(path, header, wanted);
      end = 0;
    }
    is_complete = tiles == changed.size() &&
                  std::none_of(changed.begin(), changed.end(), [](bool c) { return c; });
  }

  std::uint64_t end = 0;  ///< of the valid lines; 0 if the journal must be started again
  std::vector<bool> changed;
  bool is_complete = false;  ///< all tiles are known and as they were
  MosaicRecords records;
};

MosaicJournal::MosaicJournal(const std::filesystem::path& path, const MosaicRun& run)
    : file_(path) {
  const Scan scan(path, run);
  if (scan.end == 0) file_.refuse_other_files(mosaic_kind);
  if (scan.end > 0 && scan.is_complete) {
    file_.truncate(scan.end);
    records_ = scan.records;
  } else {
    keep_pairs_of_same_tiles(scan, run);
  }
  has_pairs_ = !records_.pairs.empty();
}

/// Writes the journal anew. Later batches and the distortion depend on all tiles.
void MosaicJournal::keep_pairs_of_same_tiles(const Scan& scan, const MosaicRun& run) {
  file_.truncate(0);
  file_.write(journal_header(mosaic_kind, run.fingerprint));
  for (std::size_t i = 0; i < run.stamps.size(); ++i) file_.write(tile_line(i, run.stamps[i]));
  for (const PairRecord& record : scan.records.pairs) {
    if (record.batch > 0 || scan.changed[record.reference] || scan.changed[record.moving]) continue;
    records_.pairs.push_back(record);
    file_.write(record_line(record));
  }
}

MosaicJournal::~MosaicJournal() {
  if (!has_pairs_ && !is_removed_) file_.remove();
}

void MosaicJournal::append(const PairRecord& record) {
  file_.write(record_line(record));
  has_pairs_ = true;
}

void MosaicJournal::append(const TileDistortion& distortion) {
  file_.write(distortion_line(distortion));
}

void MosaicJournal::remove() noexcept {
  file_.remove();
  is_removed_ = true;
}

}  // namespace warpalign::program
