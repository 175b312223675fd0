// The journal of `stack --resume` of a series of volumes. Its first line identifies the run; each
// of the others describes a volume. Every line ends with a checksum.
#include "commands/volume_series_journal.hpp"

#include "commands/file_stamp.hpp"
#include "commands/journal_words.hpp"
#include "io/usage_error.hpp"

#include <warpalign/version.hpp>

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>
#include <utility>

namespace warpalign::program {
namespace {

constexpr std::chrono::seconds flush_interval{2};

std::string header_of(const StackOptions& options) {
  Checksum inputs;
  for (const std::string& file : options.files) add_file(inputs, file);
  Checksum chosen;
  chosen.add(warpalign::version());
  chosen.add(options.to);
  add_file(chosen, options.to);  // it may name a file
  chosen.add(options.choices.motion.value_or("rigid"));
  for (const auto& [name, value] : options.choices.by_name) chosen.add(value.value_or("default"));
  chosen.add(options.volumes.spacing.value_or("none"));
  chosen.add(options.axes.value_or("none"));
  if (options.apply) add_file(chosen, *options.apply);
  chosen.add(options.crop_at.value_or("none"));
  chosen.add(options.weights.value_or("none"));
  chosen.add(fmt::format("{} {}", options.channel.value_or(-1), options.only_channel));
  return fmt::format("warpalign-series-journal 2 {:016x} {:016x}", inputs.value(), chosen.value());
}

std::array<double*, 19> numbers_of(VolumeRegistration& found) {
  std::array<double*, 19> numbers{};
  for (std::size_t i = 0; i < 12; ++i) numbers[i] = &found.matrix.m[i];
  numbers[12] = &found.rotation_deg;
  numbers[13] = &found.rotation_axis.x;
  numbers[14] = &found.rotation_axis.y;
  numbers[15] = &found.rotation_axis.z;
  numbers[16] = &found.confidence;
  numbers[17] = &found.correlation;
  numbers[18] = &found.overlap;
  return numbers;
}

std::array<double*, 5> measures_of(Deformation& deformation) {
  return {&deformation.correlation_before, &deformation.correlation, &deformation.min_jacobian,
          &deformation.max_jacobian, &deformation.extreme_jacobians};
}

std::string line_of(const SeriesRow& row, const SeriesFileEnd& end) {
  std::string line = fmt::format("volume {} {} {} {} {}", row.index, row.status, end.bytes,
                                 end.gzip.checksum, end.gzip.bytes);
  VolumeRegistration found = row.found;
  for (const double* number : numbers_of(found)) line += fmt::format(" {:a}", *number);
  line += found.deformation ? " deformed" : " undeformed";
  if (found.deformation) {
    for (const double* number : measures_of(*found.deformation)) {
      line += fmt::format(" {:a}", *number);
    }
  }
  return line + " " + row.name + "\t" + row.reason;
}

/// Reads numbers as line_of() writes them. Returns false for other words.
bool read_numbers(std::istringstream& words, std::span<double* const> numbers) {
  for (double* number : numbers) {
    std::string word;
    words >> word;
    char* stop = nullptr;
    *number = std::strtod(word.c_str(), &stop);
    if (word.empty() || *stop != 0) return false;
  }
  return true;
}

/// Returns nothing for a line of another kind. A deformation has measures, but no transform.
std::optional<std::pair<SeriesRow, SeriesFileEnd>> parsed(const std::string& line) {
  std::istringstream words(line);
  std::string kind;
  SeriesRow row;
  SeriesFileEnd end;
  words >> kind >> row.index >> row.status >> end.bytes >> end.gzip.checksum >> end.gzip.bytes;
  if (!words || kind != "volume") return std::nullopt;
  if (!read_numbers(words, numbers_of(row.found))) return std::nullopt;
  words >> kind;
  if (kind == "deformed") {
    row.found.deformation.emplace();
    if (!read_numbers(words, measures_of(*row.found.deformation))) return std::nullopt;
  }
  std::string rest;
  std::getline(words >> std::ws, rest);
  const std::size_t tab = rest.find('\t');
  if (tab == std::string::npos) return std::nullopt;
  row.name = rest.substr(0, tab);
  row.reason = rest.substr(tab + 1);
  row.found.reliable = row.status == "ok";
  end.volumes = static_cast<std::int64_t>(row.index) + 1;
  return std::pair{row, end};
}

}  // namespace

VolumeSeriesJournal::VolumeSeriesJournal(const StackOptions& options)
    : path_(*options.output + ".journal"), header_(header_of(options)) {
  read();
  // Drops lines that are not whole. The lines before them are written again.
  std::ofstream file(path_, std::ios::binary | std::ios::trunc);
  file << sealed(header_);
  for (const std::string& line : lines_) file << line;
  lines_ = {};
  if (!file.flush()) throw FileError(fmt::format("{}: cannot be written", path_.string()));
}

void VolumeSeriesJournal::read() {
  std::ifstream file(path_, std::ios::binary);
  bool is_first = true;
  for (std::string line; std::getline(file, line) && !file.eof(); is_first = false) {
    const std::optional<std::string> content = unsealed(line);
    if (!content) return;
    if (is_first) {
      if (*content == header_) continue;
      throw FileError(fmt::format(
          "{}: belongs to a run with other inputs or options; finish that run, or remove the file "
          "to start again",
          path_.string()));
    }
    const auto volume = parsed(*content);
    if (!volume || volume->first.index != rows_.size()) return;
    rows_.push_back(volume->first);
    end_ = volume->second;
    lines_.push_back(line + "\n");
  }
}

void VolumeSeriesJournal::add(const SeriesRow& row, const SeriesFileEnd& end,
                              const std::function<void()>& sync) {
  waiting_ += sealed(line_of(row, end));
  if (std::chrono::steady_clock::now() - flushed_ >= flush_interval) flush(sync);
}

void VolumeSeriesJournal::flush(const std::function<void()>& sync) {
  sync();
  std::ofstream file(path_, std::ios::binary | std::ios::app);
  file << waiting_;
  if (!file.flush()) throw FileError(fmt::format("{}: cannot be written", path_.string()));
  waiting_.clear();
  flushed_ = std::chrono::steady_clock::now();
}

void VolumeSeriesJournal::remove() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

void check_series_resumable(const StackOptions& options) {
  if (!options.resume || options.output) return;
  throw UsageError("--resume: a series of volumes is continued from its --output; name one");
}

}  // namespace warpalign::program
