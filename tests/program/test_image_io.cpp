// Images are written and read back; files appear whole or not at all.
#include "io/atomic_file.hpp"
#include "io/image_file.hpp"
#include "program/picture.hpp"
#include "program/run_program.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>

namespace {
std::atomic<int> umask_calls = 0;
}

/// Replaces the C library's umask() for this whole process.
extern "C" mode_t umask(mode_t mask) noexcept {
  ++umask_calls;
  return static_cast<mode_t>(::syscall(SYS_umask, mask));
}

namespace warpalign::test {
namespace {

using namespace program;

const Shape odd_shape{61, 37, 1};

void check_round_trip(const std::string& name, int channels, PixelType type) {
  CAPTURE(name);
  CAPTURE(channels);
  CAPTURE(std::string(name_of(type)));
  const ScratchFolder folder;
  const LoadedImage image = draw({}, odd_shape, channels, type);
  save_image(folder / name, image);
  const LoadedImage back = load_image(folder / name);
  CHECK(back.shape() == image.shape());
  CHECK(back.channels == image.channels);
  CHECK(back.type == image.type);
  CHECK(back.pixels == image.pixels);
  CHECK(folder.names() == std::vector<std::string>{name});
}

TEST_CASE("lossless formats return what was written") {
  for (const PixelType type : {PixelType::u8, PixelType::u16}) {
    check_round_trip("image.pgm", 1, type);
    check_round_trip("image.ppm", 3, type);
    for (const int channels : {1, 3}) {
      check_round_trip("image.png", channels, type);
      check_round_trip("image.tif", channels, type);
    }
  }
  check_round_trip("image.TIFF", 1, PixelType::f32);
  check_round_trip("image.tif", 3, PixelType::f32);
}

TEST_CASE("JPEG returns nearly what was written") {
  const ScratchFolder folder;
  for (const int channels : {1, 3}) {
    const LoadedImage image = draw({}, odd_shape, channels, PixelType::u8);
    save_image(folder / "image.jpg", image);
    const LoadedImage back = load_image(folder / "image.jpg");
    REQUIRE(back.channels == channels);
    REQUIRE(back.shape() == image.shape());
    double squares = 0;
    for (std::size_t i = 0; i < image.pixels.size(); ++i) {
      squares +=
          std::pow(std::to_integer<int>(image.pixels[i]) - std::to_integer<int>(back.pixels[i]), 2);
    }
    CHECK(std::sqrt(squares / static_cast<double>(image.pixels.size())) < 4);
  }
}

TEST_CASE("the content decides how a file is read, not its name") {
  const ScratchFolder folder;
  const LoadedImage image = draw({}, odd_shape, 3, PixelType::u8);
  save_image(folder / "image.png", image);
  std::filesystem::rename(folder / "image.png", folder / "image.jpg");
  CHECK(load_image(folder / "image.jpg").pixels == image.pixels);
}

TEST_CASE("pixels that a format cannot hold are refused, and nothing is written") {
  const ScratchFolder folder;
  const auto save = [&](const std::string& name, int channels, PixelType type) {
    save_image(folder / name, draw({}, odd_shape, channels, type));
  };
  CHECK_THROWS_AS(save("image.png", 1, PixelType::f32), FileError);
  CHECK_THROWS_AS(save("image.jpg", 1, PixelType::u16), FileError);
  CHECK_THROWS_AS(save("image.pgm", 3, PixelType::u8), FileError);
  CHECK_THROWS_AS(save("image.ppm", 1, PixelType::u8), FileError);
  CHECK_THROWS_AS(save("image.bmp", 1, PixelType::u8), FileError);
  CHECK_THROWS_AS(save("image", 1, PixelType::u8), FileError);
  CHECK(folder.names().empty());
}

TEST_CASE("a file that is not committed leaves the existing one unchanged") {
  const ScratchFolder folder;
  write_text(folder / "kept", "before");
  {
    AtomicFile file(folder / "kept");
    file.write(std::as_bytes(std::span("after", 5)));
  }
  CHECK(read_text(folder / "kept") == "before");
  CHECK(folder.names() == std::vector<std::string>{"kept"});
}

TEST_CASE("a committed file replaces the existing one, through links and with its mode") {
  const ScratchFolder folder;
  write_text(folder / "target", "before");
  ::chmod((folder / "target").c_str(), 0640);
  std::filesystem::create_symlink(folder / "target", folder / "link");
  AtomicFile file(folder / "link");
  file.write(std::as_bytes(std::span("after", 5)));
  file.commit();
  CHECK(read_text(folder / "target") == "after");
  CHECK(std::filesystem::is_symlink(folder / "link"));
  struct stat status {};
  REQUIRE(::stat((folder / "target").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0640U);
  CHECK(folder.names() == std::vector<std::string>{"link", "target"});
}

TEST_CASE("a new file has the mode of the umask, without setting the umask") {
  const ScratchFolder folder;
  const mode_t before = ::umask(027);
  const int calls = umask_calls;
  for (const auto unfinished : {Unfinished::removed, Unfinished::kept}) {
    AtomicFile file(folder / "new", unfinished);
    file.commit();
    struct stat status {};
    REQUIRE(::stat((folder / "new").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0640U);
    std::filesystem::remove(folder / "new");
  }
  CHECK(umask_calls == calls);
  ::umask(before);
}

/// Whether the folder supports files without a name (O_TMPFILE).
bool has_nameless_files(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR, 0600);
  if (descriptor >= 0) ::close(descriptor);
  return descriptor >= 0;
}

TEST_CASE("a signal that ends the program removes the temporary file") {
  for (const int number : {SIGTERM, SIGSEGV, SIGKILL}) {
    const ScratchFolder folder;
    // SIGKILL has no handler.
    if (number == SIGKILL && !has_nameless_files(folder / ".")) continue;
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      std::signal(number, SIG_DFL);  // removes the test framework's own handler
      const AtomicFile file(folder / "image.png");
      ::raise(number);
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK(folder.names().empty());
  }
}

TEST_CASE("an output cannot be a folder or a device") {
  const ScratchFolder folder;
  CHECK_THROWS_AS(AtomicFile(folder / "."), FileError);
  CHECK_THROWS_AS(AtomicFile("/dev/null"), FileError);
  CHECK_THROWS_AS(AtomicFile(folder / "missing/image.png"), FileError);
}

TEST_CASE("the name that means standard output does not create a file") {
  CHECK_THROWS_WITH_AS(
      AtomicFile("-"),
      "-: standard output ('-') is not supported here; name a file (./- for a file called '-')",
      FileError);
  CHECK_FALSE(std::filesystem::exists("-"));
  const ScratchFolder folder;
  CHECK_NOTHROW(AtomicFile(folder / "-"));
}

}  // namespace
}  // namespace warpalign::test
