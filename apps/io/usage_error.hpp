// The exception for wrong options and arguments; the program exits with status 2.
#pragma once

#include <stdexcept>

namespace warpalign::program {

/// `what()` is one line that names the option or file and gives advice.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace warpalign::program
