// The packages that bring what is missing: names as of Debian 12 and Fedora 41.
#include "doctor/packages.hpp"

namespace warpalign::program::doctor {

Packages opencl_loader_packages() { return {"ocl-icd-libopencl1", "OpenCL-ICD-Loader", ""}; }

Packages opencl_driver_packages() {
  return {"pocl-opencl-icd (any CPU), intel-opencl-icd, mesa-opencl-icd (AMD), nvidia-opencl-icd",
          "pocl (any CPU), intel-compute-runtime, mesa-libOpenCL (AMD)",
          "for NVIDIA's GPUs on Fedora: xorg-x11-drv-nvidia-cuda of RPM Fusion"};
}

Packages clfft_packages() { return {"libclfft2", "clfft", ""}; }

Packages cufft_packages() {
  return {"", "", "cuFFT of CUDA 12 comes from NVIDIA's own repository for either distribution"};
}

Packages nvidia_driver_packages() {
  return {"nvidia-driver (of its section non-free)", "",
          "on Fedora: akmod-nvidia and xorg-x11-drv-nvidia-cuda of RPM Fusion"};
}

Packages module_packages(const std::string& backend) {
  return {"libwarpalign-" + backend + " (warpalign's own)", "",
          "without a package, build warpalign where what the backend needs is installed; CMake "
          "says what"};
}

}  // namespace warpalign::program::doctor
