// The error of transforms that cannot be made or evaluated.
#pragma once

#include <warpalign/error.hpp>

#include <string>

namespace warpalign::detail {

[[noreturn]] inline void refuse_transform(const std::string& what) {
  throw Error(ErrorKind::invalid_argument, what);
}

}  // namespace warpalign::detail
