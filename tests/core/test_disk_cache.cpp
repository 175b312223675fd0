// The cache on disk: what it stores, and what it refuses to read.
#include "device/cache/disk_cache.hpp"
#include "support/skipped.hpp"
#include "support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>
#include <vector>

namespace {

std::filesystem::path only_file(const std::filesystem::path& folder) {
  std::filesystem::path found;
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    found = entry.path();
    ++count;
  }
  CHECK(count == 1);
  return found;
}

}  // namespace

using warpalign::detail::DiskCache;

TEST_CASE("disk_cache: an entry is found, under its own key only") {
  const test::TemporaryFolder folder;
  const DiskCache cache(folder.path() / "deep" / "cache");
  CHECK_FALSE(cache.load("key"));
  const std::string bytes("a\0b\xff", 4);
  cache.store("key", bytes);
  CHECK(cache.load("key") == bytes);
  CHECK_FALSE(cache.load("other key"));
  cache.store("key", "new");
  CHECK(cache.load("key") == "new");
  (void)only_file(folder.path() / "deep" / "cache");  // no temporary file is left
}

TEST_CASE("disk_cache: neither a trailing slash nor the umask changes anything") {
  const test::TemporaryFolder folder;
  const mode_t before = ::umask(002);
  const DiskCache cache(folder.path() / "cache" / "");
  const std::string problem = cache.store("key", "bytes");
  ::umask(before);
  CHECK(problem.empty());
  CHECK(cache.load("key") == "bytes");
}

TEST_CASE("disk_cache: empty entries and single bytes are stored as well") {
  const test::TemporaryFolder folder;
  const DiskCache cache(folder.path() / "cache");
  for (const std::string bytes : {"", "x"}) {
    CHECK(cache.store(bytes, bytes).empty());
    CHECK(cache.load(bytes) == bytes);
  }
}

// A limit of 4096 bytes for the file simulates a disk that becomes full.
TEST_CASE("disk_cache: a failed write is reported, and leaves nothing") {
  const test::TemporaryFolder folder;
  const auto cache_folder = folder.path() / "cache";
  const DiskCache cache(cache_folder);
  CHECK(cache.store("key", "bytes").empty());
  struct rlimit before {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit little { 4096, before.rlim_max };
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &little) == 0);
  const std::string problem = cache.store("other", std::string(100000, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK_MESSAGE(problem.find("cannot be written to (File too large)") != std::string::npos,
                problem);
  CHECK_FALSE(cache.load("other"));
  CHECK(cache.load("key") == "bytes");
  (void)only_file(cache_folder);  // of the stored key
}

TEST_CASE("disk_cache: damaged, truncated and swapped entries are not found") {
  const test::TemporaryFolder folder;
  const auto cache_folder = folder.path() / "cache";
  const DiskCache cache(cache_folder);
  cache.store("key", "some bytes that matter");
  const auto file = only_file(cache_folder);
  std::string content;
  {
    std::ifstream stream(file, std::ios::binary);
    content.assign(std::istreambuf_iterator<char>(stream), {});
  }
  const auto rewrite = [&](const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
  };
  std::string flipped = content;
  flipped[content.size() - 3] ^= 1;
  rewrite(flipped);
  CHECK_FALSE(cache.load("key"));
  rewrite(content.substr(0, content.size() - 1));
  CHECK_FALSE(cache.load("key"));
  rewrite("");
  CHECK_FALSE(cache.load("key"));
  rewrite(content);
  CHECK(cache.load("key"));

  const DiskCache elsewhere(folder.path() / "elsewhere");
  elsewhere.store("other", "bytes of another key");
  std::filesystem::copy_file(only_file(folder.path() / "elsewhere"), file,
                             std::filesystem::copy_options::overwrite_existing);
  CHECK_FALSE(cache.load("key"));
  cache.store("key", "rebuilt");
  CHECK(cache.load("key") == "rebuilt");
}

TEST_CASE("disk_cache: what others may write is not trusted") {
  const test::TemporaryFolder folder;
  const auto cache_folder = folder.path() / "cache";
  const DiskCache cache(cache_folder);
  cache.store("key", "bytes");
  const auto file = only_file(cache_folder);
  ::chmod(file.c_str(), 0666);
  CHECK_FALSE(cache.load("key"));
  ::chmod(file.c_str(), 0600);
  CHECK(cache.load("key"));
  ::chmod(cache_folder.c_str(), 0777);
  CHECK_FALSE(cache.load("key"));
  cache.store("second", "bytes");
  ::chmod(cache_folder.c_str(), 0700);
  CHECK_FALSE(cache.load("second"));

  std::filesystem::rename(file, folder.path() / "moved");
  std::filesystem::create_symlink(folder.path() / "moved", file);
  CHECK_FALSE(cache.load("key"));
}

TEST_CASE("disk_cache: what belongs to another user is not read, and nothing is written there") {
  if (::geteuid() != 0) return test::skip_case("files of another user can only be made by root");
  constexpr uid_t nobody = 65534;
  const test::TemporaryFolder folder;
  const auto cache_folder = folder.path() / "cache";
  const DiskCache cache(cache_folder);
  cache.store("key", "bytes");
  const auto file = only_file(cache_folder);
  REQUIRE(::chown(file.c_str(), nobody, nobody) == 0);
  CHECK_FALSE(cache.load("key"));
  REQUIRE(::chown(file.c_str(), 0, 0) == 0);
  CHECK(cache.load("key"));
  REQUIRE(::chown(cache_folder.c_str(), nobody, nobody) == 0);
  CHECK_FALSE(cache.load("key"));
  CHECK(cache.store("second", "bytes").find("belongs to this user") != std::string::npos);
  (void)only_file(cache_folder);
}

TEST_CASE("disk_cache: a pipe in place of an entry does not block") {
  const test::TemporaryFolder folder;
  const auto cache_folder = folder.path() / "cache";
  const DiskCache cache(cache_folder);
  cache.store("key", "bytes");
  const auto file = only_file(cache_folder);
  std::filesystem::remove(file);
  REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
  CHECK_FALSE(cache.load("key"));  // would not return
}

TEST_CASE(
    "disk_cache: leftovers from the future stay, and a clock that was set back does no harm") {
  const test::TemporaryFolder folder;
  const std::filesystem::path cache_folder = folder.path() / "cache";
  DiskCache(cache_folder).store("key", "bytes");
  const std::filesystem::path future = cache_folder / ".new-future";
  std::ofstream(future) << "half";
  std::filesystem::last_write_time(
      future, std::filesystem::file_time_type::clock::now() + std::chrono::hours(1000));
  const DiskCache cache(cache_folder);
  CHECK(std::filesystem::exists(future));
  CHECK(cache.load("key") == "bytes");
}

TEST_CASE("disk_cache: a missing folder, or one that cannot be created, is not an error") {
  const DiskCache none("");
  none.store("key", "bytes");
  CHECK_FALSE(none.load("key"));
  const DiskCache impossible("/proc/none/cache");
  impossible.store("key", "bytes");
  CHECK_FALSE(impossible.load("key"));
}

TEST_CASE("disk_cache: files of a killed process are removed, files being written stay") {
  const test::TemporaryFolder folder;
  const std::filesystem::path cache_folder = folder.path() / "cache";
  DiskCache(cache_folder).store("key", "bytes");
  const std::filesystem::path old = cache_folder / ".new-old123";
  const std::filesystem::path young = cache_folder / ".new-young1";
  std::ofstream(old) << "half";
  std::ofstream(young) << "half";
  std::filesystem::last_write_time(
      old, std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  const DiskCache cache(cache_folder);
  CHECK_FALSE(std::filesystem::exists(old));
  CHECK(std::filesystem::exists(young));
  CHECK(cache.load("key") == "bytes");
}

TEST_CASE("disk_cache: simultaneous writers leave one whole entry") {
  const test::TemporaryFolder folder;
  const auto cache_folder = folder.path() / "cache";
  std::vector<std::thread> writers;
  for (char letter = 'a'; letter < 'e'; ++letter) {
    writers.emplace_back([&cache_folder, letter] {
      const DiskCache cache(cache_folder);
      for (int i = 0; i < 50; ++i) {
        cache.store("key", std::string(20000, letter));
        const auto found = cache.load("key");
        if (found && (found->size() != 20000 ||
                      found->find_first_not_of((*found)[0]) != std::string::npos)) {
          std::abort();  // would mean that a damaged entry was accepted
        }
      }
    });
  }
  for (auto& writer : writers) writer.join();
  CHECK(DiskCache(cache_folder).load("key"));
  (void)only_file(cache_folder);
}
