// libFuzzer's entry point, which calls the only target that is linked.
#include "target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  warpalign::fuzz::targets().front().run({data, size});
  return 0;
}
