// The entry point of the CUDA module.
#include "device/driver.hpp"

#include <warpalign/backend/module.hpp>

namespace {

std::unique_ptr<warpalign::backend::Driver> open_driver(
    std::size_t index, std::shared_ptr<const warpalign::backend::Host> /*host*/) {
  return std::make_unique<warpalign::cuda::CudaDriver>(index);
}

constexpr warpalign::backend::ModuleTable table{
    warpalign::backend::abi_number, "cuda", &warpalign::cuda::list_devices, &open_driver, nullptr};

}  // namespace

WARPALIGN_MODULE_EXPORT const warpalign::backend::ModuleTable* warpalign_backend_module();

const warpalign::backend::ModuleTable* warpalign_backend_module() { return &table; }
