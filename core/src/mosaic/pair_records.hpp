// The pairs that an interrupted call of locate_tiles() had registered.
#pragma once

#include "mosaic/overlap.hpp"

#include <warpalign/mosaic.hpp>

#include <cstddef>
#include <map>
#include <utility>

namespace warpalign::detail {

/// Finds records by batch and index, and numbers the batches of this call. The same tiles and
/// options lead to the same batches, so that a pair that differs from its record is of another
/// call, and is registered.
class PairRecords {
 public:
  /// `options` must outlive this object.
  explicit PairRecords(const MosaicOptions& options) : options_(options) {
    for (const PairRecord& record : options.records.pairs) {
      by_number_[{record.batch, record.index}] = &record;
    }
  }

  /// The number of the next batch.
  [[nodiscard]] std::size_t begin_batch() { return batches_++; }
  /// The record of a pair, or null.
  [[nodiscard]] const PairRecord* find(std::size_t batch, std::size_t index,
                                       const ExpectedPair& pair) const {
    const auto found = by_number_.find({batch, index});
    if (found == by_number_.end()) return nullptr;
    const PairRecord& record = *found->second;
    const bool same = record.reference == pair.reference && record.moving == pair.moving &&
                      record.expected.x == pair.shift.x && record.expected.y == pair.shift.y;
    return same ? &record : nullptr;
  }
  /// Passes a new record on. One thread at a time may call it.
  void keep(const PairRecord& record) const {
    if (options_.keep_pair) options_.keep_pair(record);
  }

 private:
  const MosaicOptions& options_;
  std::map<std::pair<std::size_t, std::size_t>, const PairRecord*> by_number_;
  std::size_t batches_ = 0;
};

}  // namespace warpalign::detail
