// Folders in which writing fails.
#pragma once

#include "program/run_program.hpp"

#include <string>

namespace warpalign::test {

/// Sets an environment variable for the lifetime of this object, or unsets it if there is no
/// value.
class Variable {
 public:
  Variable(const char* name, const char* value);
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable();

 private:
  const char* name_;
  bool was_set_;
  std::string old_;
};

/// A small file system. Only root can mount one.
class Disk {
 public:
  enum class State { read_only, full };
  explicit Disk(State state);
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;
  ~Disk();

  /// The reason why it could not be mounted, or empty.
  [[nodiscard]] const std::string& obstacle() const { return obstacle_; }
  [[nodiscard]] std::string path() const { return folder_ / "disk"; }

 private:
  ScratchFolder folder_;
  std::string obstacle_;
};

}  // namespace warpalign::test
