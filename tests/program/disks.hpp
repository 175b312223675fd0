// Folders in which nothing can be written.
#pragma once

#include "program/run_program.hpp"

#include <string>

namespace warpalign::test {

/// An environment variable for the time that this lives; without a value it is unset.
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

/// A small disk of its own. Only root can mount one.
class Disk {
 public:
  enum class State { read_only, full };
  explicit Disk(State state);
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;
  ~Disk();

  /// Why there is none; empty if there is.
  [[nodiscard]] const std::string& obstacle() const { return obstacle_; }
  [[nodiscard]] std::string path() const { return folder_ / "disk"; }

 private:
  ScratchFolder folder_;
  std::string obstacle_;
};

}  // namespace warpalign::test
