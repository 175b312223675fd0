// Locates the journal of a run, and assigns a shard of a stack to this process.
#pragma once

#include "commands/stack_input.hpp"
#include "commands/stack_journal.hpp"
#include "commands/stack_options.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace warpalign::program {

/// Every `of`th frame, starting with frame `number` - 1.
struct Shard {
  std::size_t number = 1;
  std::size_t of = 1;

  [[nodiscard]] bool has(std::size_t index) const { return index % of == number - 1; }
};

/// Parses a shard such as "2/4". Throws UsageError.
[[nodiscard]] Shard shard_of(const std::string& text);

/// Throws UsageError if --resume or --shard conflicts with the other options.
void check_resumable(const StackOptions& options);

/// Opens the journal of this run and those of its shards. Returns null without --resume and
/// --shard. Throws FileError.
[[nodiscard]] std::unique_ptr<StackJournal> open_journal(const StackOptions& options,
                                                         const StackInput& input);

}  // namespace warpalign::program
