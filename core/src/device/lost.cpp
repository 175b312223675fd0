// Lost devices.
#include "device/lost.hpp"

#include <warpalign/error.hpp>

namespace warpalign::detail {

void refuse_lost(const backend::Driver& driver) {
  const DeviceInfo& info = driver.info();
  throw Error(ErrorKind::device_unavailable,
              "the device was lost when an earlier call failed (" + std::string(driver.lost()) +
                  "); its objects can only be destroyed",
              {.stage = "device",
               .backend = info.backend,
               .device = info.name,
               .code = driver.lost(),
               .advice = "open " + info.id +
                         " again with open_device; if that fails, restart the program or use "
                         "another device"});
}

}  // namespace warpalign::detail
