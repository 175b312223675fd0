// Locates the journal of a run, and assigns a shard of a stack to this process.
#include "commands/stack_resume.hpp"

#include "commands/run_fingerprint.hpp"
#include "commands/stack_reference.hpp"
#include "io/usage_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace warpalign::program {
namespace {

using Path = std::filesystem::path;

/// The first output with a name. The journal lies next to it.
std::optional<std::string> named_output(const StackOptions& options) {
  for (const auto* name : {&options.folder, &options.output, &options.video, &options.field,
                           &options.json, &options.csv, &options.plot, &options.page}) {
    if (*name && **name != "-") return **name;
  }
  return {};
}

/// The output's path without a trailing slash, to which the journal's extension is added.
Path journal_base(const StackOptions& options) {
  Path base = Path(*named_output(options)).lexically_normal();
  if (!base.has_filename()) base = base.parent_path();
  return base;
}

std::vector<Path> shard_journals(const Path& base) {
  const std::string start = base.filename().string() + ".shard-";
  std::vector<Path> found;
  std::error_code failed;
  const Path folder = base.has_parent_path() ? base.parent_path() : Path(".");
  for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(start) && name.ends_with(".journal")) found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

Shard shard_of(const std::string& text) {
  Shard shard;
  const char* end = text.data() + text.size();
  const auto [slash, failed] = std::from_chars(text.data(), end, shard.number);
  if (failed == std::errc{} && slash != end && *slash == '/') {
    const auto [stop, wrong] = std::from_chars(slash + 1, end, shard.of);
    const bool fits = wrong == std::errc{} && stop == end;
    if (fits && shard.number >= 1 && shard.number <= shard.of) return shard;
  }
  throw UsageError(fmt::format(
      "--shard {}: must be the number of a part and the number of parts, such as 2/4", text));
}

void check_resumable(const StackOptions& options) {
  if (!options.resume && !options.shard) return;
  const std::string option = options.shard ? "--shard" : "--resume";
  if (options.video == "-") {
    throw UsageError(fmt::format(
        "{}: standard output cannot be resumed; name a file for --output-video", option));
  }
  if (!named_output(options)) {
    throw UsageError(fmt::format(
        "{}: needs an output, next to which it keeps its journal; add one, such as --json",
        option));
  }
  if (!options.shard) return;
  (void)shard_of(*options.shard);
  if (!is_fixed(reference_choice(options.to).to)) {
    throw UsageError(fmt::format(
        "--shard: with --to {} each frame depends on earlier frames; use --to first, auto, a "
        "frame's number or an image file",
        options.to));
  }
}

std::unique_ptr<StackJournal> open_journal(const StackOptions& options, const StackInput& input) {
  if (!options.resume && !options.shard) return {};
  const Path base = journal_base(options);
  const RunFingerprint fingerprint = fingerprint_of(options, input);
  if (options.shard) {
    const Shard shard = shard_of(*options.shard);
    return std::make_unique<StackJournal>(
        fmt::format("{}.shard-{}-of-{}.journal", base.string(), shard.number, shard.of),
        fingerprint);
  }
  auto journal = std::make_unique<StackJournal>(base.string() + ".journal", fingerprint);
  journal->add_shards(shard_journals(base));
  return journal;
}

}  // namespace warpalign::program
