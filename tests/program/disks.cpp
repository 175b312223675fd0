// Folders in which writing fails.
#include "program/disks.hpp"

#include <sys/mount.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace warpalign::test {

Variable::Variable(const char* name, const char* value) : name_(name) {
  const char* old = std::getenv(name);
  was_set_ = old != nullptr;
  if (was_set_) old_ = old;
  if (value != nullptr) {
    ::setenv(name, value, 1);
  } else {
    ::unsetenv(name);
  }
}

Variable::~Variable() {
  if (was_set_) {
    ::setenv(name_, old_.c_str(), 1);
  } else {
    ::unsetenv(name_);
  }
}

Disk::Disk(State state) {
  std::filesystem::create_directory(path());
  const unsigned long flags = state == State::read_only ? MS_RDONLY : 0;
  if (::mount("tmpfs", path().c_str(), "tmpfs", flags, "size=64k") != 0) {
    obstacle_ = std::string("no disk can be mounted here: ") + std::strerror(errno);
    return;
  }
  // Larger than the free space: the rest is lost, and the disk is full.
  if (state == State::full) write_text(path() + "/filler", std::string(1 << 20, ' '));
}

Disk::~Disk() {
  if (obstacle_.empty()) ::umount(path().c_str());
}

}  // namespace warpalign::test
