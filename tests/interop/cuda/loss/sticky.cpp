// The failing kernels are PTX, which the driver compiles, so this need not be a CUDA source.
#include "interop/cuda/loss/sticky.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <stdexcept>

namespace test {
namespace {

constexpr const char* kernels = R"(
.version 6.0
.target sm_60
.address_size 64
.visible .entry trap() { trap; ret; }
.visible .entry write_nowhere() {
  .reg .b64 address; .reg .b32 value;
  mov.u64 address, 16; mov.u32 value, 1; st.global.u32 [address], value; ret;
}
.visible .entry write_misaligned(.param .u64 memory) {
  .reg .b64 address; .reg .b32 value;
  ld.param.u64 address, [memory]; mov.u32 value, 1; st.global.u32 [address+1], value; ret;
}
)";

template <class Function>
Function* function_of_driver(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  void* const address = library == nullptr ? nullptr : dlsym(library, name);
  if (address == nullptr) throw std::runtime_error(std::string("the driver has no ") + name);
  return reinterpret_cast<Function*>(address);
}

void require(CUresult code, const char* call) {
  if (code == CUDA_SUCCESS) return;
  throw std::runtime_error(std::string(call) + " fails with " + std::to_string(code));
}

const char* name_of(Failure failure) {
  switch (failure) {
    case Failure::trap:
      return "trap";
    case Failure::write_nowhere:
      return "write_nowhere";
    case Failure::write_misaligned:
      return "write_misaligned";
  }
  throw std::invalid_argument("no such failure");
}

}  // namespace

const char* code_of(Failure failure) {
  switch (failure) {
    case Failure::trap:
      return "cudaErrorLaunchFailure";
    case Failure::write_nowhere:
      return "cudaErrorIllegalAddress";
    case Failure::write_misaligned:
      return "cudaErrorMisalignedAddress";
  }
  throw std::invalid_argument("no such failure");
}

std::string provoke(Failure failure) {
  void* memory = nullptr;  // never freed, because CUDA refuses all later calls
  if (cudaMalloc(&memory, 64) != cudaSuccess) throw std::runtime_error("cudaMalloc fails");
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  require(function_of_driver<decltype(::cuModuleLoadData)>("cuModuleLoadData")(&module, kernels),
          "cuModuleLoadData");
  require(function_of_driver<decltype(::cuModuleGetFunction)>("cuModuleGetFunction")(
              &kernel, module, name_of(failure)),
          "cuModuleGetFunction");
  void* arguments[] = {&memory};
  require(function_of_driver<decltype(::cuLaunchKernel)>("cuLaunchKernel")(
              kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr),
          "cuLaunchKernel");
  return cudaGetErrorName(cudaDeviceSynchronize());
}

}  // namespace test
