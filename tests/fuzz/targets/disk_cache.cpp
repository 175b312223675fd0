// Entries of the kernel cache: an entry that was changed in any way must not be found, because
// kernels that are found are run. Each three bytes of the input are a change: its position and the
// new value.
#include "device/cache/disk_cache.hpp"
#include "reader.hpp"
#include "scratch_file.hpp"

#include <fstream>
#include <iterator>

namespace warpalign::fuzz {
namespace {

using detail::DiskCache;

std::filesystem::path entry_in(const std::filesystem::path& folder) {
  return std::filesystem::directory_iterator(folder)->path();
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void rewrite(const std::filesystem::path& file, const std::string& content) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
}

std::string changed(std::string content, Reader& reader) {
  const std::uint8_t cut = reader.byte();
  if (cut > 0) content.resize(content.size() * cut / 255);
  while (!reader.empty()) {
    const std::size_t at = reader.number<std::uint16_t>();
    const auto value = static_cast<char>(reader.byte());
    if (at < content.size()) content[at] = value;
    if (at == content.size()) content += value;
  }
  return content;
}

void run(Input input) {
  static const ScratchFolder folder;
  static const DiskCache cache(folder.path() / "cache");
  const std::string bytes = "what the device runs";
  require(cache.store("key", bytes).empty(), "an entry can be stored");
  const std::filesystem::path file = entry_in(folder.path() / "cache");
  const std::string stored = content_of(file);
  Reader reader(input);
  const std::string damaged = changed(stored, reader);
  rewrite(file, damaged);
  const std::optional<std::string> found = cache.load("key");
  require(found.has_value() == (damaged == stored), "an entry is found if it is as it was stored");
  require(!found || *found == bytes, "an entry is what was stored");

  rewrite(file, std::string(input.begin(), input.end()));
  require(!cache.load("key"), "any other file is no entry");
}

const Registration registration("disk_cache", run);

}  // namespace
}  // namespace warpalign::fuzz
