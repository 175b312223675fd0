// The journals of `stack --resume` and `mosaic --resume`: the input as a single line, and as the
// file of an earlier run.
#include "commands/journal_line.hpp"
#include "commands/journal_words.hpp"
#include "commands/mosaic_journal.hpp"
#include "commands/stack_journal.hpp"
#include "io/image_file.hpp"
#include "reader.hpp"
#include "scratch_file.hpp"

#include <sstream>

namespace warpalign::fuzz {
namespace {

using namespace program;

void check_line(const std::string& line) {
  const std::optional<StackFrame> frame = parse_journal_line(line);
  if (!frame) return;
  const std::string written = journal_line(*frame);
  require(written.find('\n') == std::string::npos, "a frame is one line");
  const std::optional<StackFrame> again = parse_journal_line(written);
  require(again.has_value(), "what is written can be read");
  require(journal_line(*again) == written, "a line comes back as it was written");
  require(
      unsealed(std::string_view(sealed(written)).substr(0, sealed(written).size() - 1)) == written,
      "a sealed line can be opened");
}

void check_pair_line(const std::string& line) {
  const std::optional<PairRecord> record = parse_record_line(line);
  if (!record) return;
  const std::string written = record_line(*record);
  require(written.find('\n') == std::string::npos, "a pair is one line");
  const std::optional<PairRecord> again = parse_record_line(written);
  require(again && record_line(*again) == written, "a pair comes back as it was written");
}

/// Lines that begin with ! get a checksum here, because the fuzzer cannot guess one.
std::string with_seals(const std::string& text) {
  std::istringstream lines(text);
  std::string file;
  for (std::string line; std::getline(lines, line);) {
    file += line.starts_with('!') ? sealed(line.substr(1)) : line + "\n";
  }
  return file;
}

void check_file(const std::string& text) {
  const std::string file = with_seals(text);
  const std::filesystem::path path =
      as_file({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()}, "journal");
  try {
    StackJournal journal(path, {1, 2});
    std::size_t found = 0;
    for (std::size_t index = 0; index < 64; ++index) {
      const std::optional<JournalEntry> entry = journal.find(index);
      if (!entry) continue;
      require(entry->frame.index == index, "a frame is found under its own number");
      ++found;
    }
    require(found <= journal.frames(), "no frame is found that is not there");
    journal.mark();
  } catch (const FileError&) {
  }
}

void check_mosaic_file(const std::string& text) {
  const std::string file = with_seals(text);
  const std::filesystem::path path =
      as_file({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()}, "journal");
  const MosaicRun run{{1, 2}, {7, 8, 9}};
  try {
    std::size_t pairs = 0;
    {
      MosaicJournal journal(path, run);
      pairs = journal.records().pairs.size();
      for (const PairRecord& record : journal.records().pairs) {
        require(record.reference < 3 && record.moving < 3, "pairs are of tiles that exist");
      }
    }
    if (pairs == 0) return;
    require(MosaicJournal(path, run).records().pairs.size() == pairs, "all pairs remain");
  } catch (const FileError&) {
  }
}

void run(Input input) {
  Reader reader(input);
  const std::string text = reader.text();
  const std::string line = text.starts_with('!') ? text.substr(1, text.find('\n') - 1) : text;
  check_line(line);
  check_pair_line(line);
  check_file(text);
  check_mosaic_file(text);
}

const Registration registration("journal", run);

}  // namespace
}  // namespace warpalign::fuzz
