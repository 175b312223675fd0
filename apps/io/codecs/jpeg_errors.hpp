// How libjpeg's errors leave it: by longjmp, with their message.
#pragma once

#include <array>
#include <csetjmp>
#include <cstdio>

#include <jpeglib.h>

namespace warpalign::program {

/// libjpeg's error manager followed by our members, as in libjpeg's documentation.
struct JpegErrors {
  jpeg_error_mgr base;
  std::jmp_buf escape;
  std::array<char, JMSG_LENGTH_MAX> message;
};

[[noreturn]] inline void give_up(j_common_ptr jpeg) {
  auto& errors = *reinterpret_cast<JpegErrors*>(jpeg->err);
  errors.base.format_message(jpeg, errors.message.data());
  std::longjmp(errors.escape, 1);
}

}  // namespace warpalign::program
