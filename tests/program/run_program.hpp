// Runs the program as a user does, in a folder of the test.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace warpalign::test {

struct Outcome {
  int status = -1;
  std::string out;
  std::string err;
  long peak_kilobytes = 0;  ///< peak resident memory of the process
};

/// Runs the program with these arguments and waits for it. A signal gives the status 128 + its
/// number.
[[nodiscard]] Outcome run_program(const std::vector<std::string>& arguments);

/// Runs a script with sh, in which "$W" is the program, for tests of pipes and limits.
[[nodiscard]] Outcome run_script(const std::string& script);

/// The device under test: WARPALIGN_TEST_DEVICE, or "opencl".
[[nodiscard]] std::string test_device();
/// Fails the running case if the program finds no such device.
void require_test_device();

/// A new folder. The destructor removes it and its contents.
class ScratchFolder {
 public:
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  [[nodiscard]] std::string operator/(const std::string& name) const { return (path_ / name); }
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::filesystem::path path_;
};

void write_text(const std::string& path, const std::string& text);
[[nodiscard]] std::string read_text(const std::string& path);
/// Copies the first `share` of a file, a fraction from 0 to 1.
void truncate_copy(const std::string& from, const std::string& to, double share);

}  // namespace warpalign::test
