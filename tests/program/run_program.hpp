// Running the program as a user does, in a folder of its own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace warpalign::test {

struct Outcome {
  int status = -1;
  std::string out;
  std::string err;
  long peak_kilobytes = 0;  ///< its peak resident memory
};

/// Runs the program with these arguments and waits for it. A signal gives 128 + its number.
[[nodiscard]] Outcome run_program(const std::vector<std::string>& arguments);

/// Runs a script by sh, in which "$W" is the program: for pipes and limits.
[[nodiscard]] Outcome run_script(const std::string& script);

/// The device that the tests name: WARPALIGN_TEST_DEVICE, or "opencl".
[[nodiscard]] std::string test_device();
/// Fails the running case where the program finds no such device.
void require_test_device();

/// A new folder, removed with everything in it.
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
/// Copies the first `share` of a file.
void truncate_copy(const std::string& from, const std::string& to, double share);

}  // namespace warpalign::test
