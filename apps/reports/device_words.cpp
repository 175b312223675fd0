// Words for what DeviceInfo says by enumerations.
#include "reports/device_words.hpp"

namespace warpalign::program {

const char* name_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::cpu:
      return "cpu";
    case DeviceKind::gpu:
      return "gpu";
    case DeviceKind::other:
      break;
  }
  return "other";
}

const char* name_of(Sampling sampling) {
  return sampling == Sampling::texture ? "texture" : "buffer";
}

}  // namespace warpalign::program
