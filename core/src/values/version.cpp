// The library's version.
#include <warpalign/version.hpp>

#define WARPALIGN_TEXT_OF(x) #x
#define WARPALIGN_TEXT(x) WARPALIGN_TEXT_OF(x)

namespace warpalign {

const char* version() noexcept {
  return WARPALIGN_TEXT(WARPALIGN_VERSION_MAJOR) "." WARPALIGN_TEXT(
      WARPALIGN_VERSION_MINOR) "." WARPALIGN_TEXT(WARPALIGN_VERSION_PATCH);
}

}  // namespace warpalign
