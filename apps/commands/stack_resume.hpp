// Where a run's journal stands, and which part of a stack is this process's.
#pragma once

#include "commands/stack_input.hpp"
#include "commands/stack_journal.hpp"
#include "commands/stack_options.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace warpalign::program {

/// Every `of`th frame, beginning with frame `number` - 1.
struct Shard {
  std::size_t number = 1;
  std::size_t of = 1;

  [[nodiscard]] bool has(std::size_t index) const { return index % of == number - 1; }
};

/// "2/4". Throws UsageError.
[[nodiscard]] Shard shard_of(const std::string& text);

/// Throws UsageError where --resume or --shard cannot be followed.
void check_resumable(const StackOptions& options);

/// The journal of this run, with those of its shards; null where none was asked for. Throws
/// FileError.
[[nodiscard]] std::unique_ptr<StackJournal> open_journal(const StackOptions& options,
                                                         const StackInput& input);

}  // namespace warpalign::program
