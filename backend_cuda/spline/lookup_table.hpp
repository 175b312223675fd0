// Sigg and Hadwiger's table of cubic weights as linear lookups, filled on the device when a plan is
// made.
#pragma once

#include "device/texture.hpp"

namespace warpalign::cuda {

class LookupTable {
 public:
  explicit LookupTable(const CallSite& site);
  [[nodiscard]] cudaTextureObject_t texture() const noexcept { return array_.texture(); }

 private:
  TextureArray array_;
};

}  // namespace warpalign::cuda
