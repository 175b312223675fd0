// The error message for a failed read.
#include "io/read_failure.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace warpalign::program {

FileError cannot_read(int code) {
  const char* advice = code == ENOENT ? "check the name" : "check the file and its permissions";
  return FileError(fmt::format("cannot be read ({}); {}", std::strerror(code), advice));
}

}  // namespace warpalign::program
