// Names the packages that provide missing components, as of Debian 12 and Fedora 41.
#include "doctor/packages.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace warpalign::program::doctor {

Packages opencl_loader_packages() { return {"ocl-icd-libopencl1", "OpenCL-ICD-Loader", ""}; }

Packages opencl_driver_packages() {
  return {"pocl-opencl-icd (any CPU), intel-opencl-icd, mesa-opencl-icd (AMD), nvidia-opencl-icd",
          "pocl (any CPU), intel-compute-runtime, mesa-libOpenCL (AMD)",
          "for NVIDIA's GPUs on Fedora: xorg-x11-drv-nvidia-cuda of RPM Fusion"};
}

Packages clfft_packages() { return {"libclfft2", "clfft", ""}; }

Packages cufft_packages(const std::string& problem) {
  // The version in the soname of cuFFT is one less than that of the toolkit: libcufft.so.12 belongs
  // to CUDA 13.
  const std::string before = "libcufft.so.";
  const std::size_t at = problem.find(before);
  const int soname = at == std::string::npos ? 0 : std::atoi(problem.c_str() + at + before.size());
  const std::string elsewhere =
      "where NVIDIA's runfile has installed CUDA, name its folder to the dynamic loader: "
      "echo /usr/local/cuda/lib64 > /etc/ld.so.conf.d/cuda.conf && ldconfig";
  if (soname == 0) return {"", "", elsewhere};
  const std::string package =
      fmt::format("libcufft-{0}-0 or later of CUDA {0}, of NVIDIA's repository", soname + 1);
  return {package, package, elsewhere};
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

Packages packages_for_module(const std::string& backend, const std::string& problem) {
  const auto lacks = [&](const char* library) {
    return problem.find(library) != std::string::npos;
  };
  if (lacks("libOpenCL.so")) return opencl_loader_packages();
  if (lacks("libcufft.so")) return cufft_packages(problem);
  if (lacks("libcuda.so")) return nvidia_driver_packages();
  return module_packages(backend);
}

Packages packages_for_devices(const std::string& backend, const std::string& problem) {
  if (backend == "cuda") return nvidia_driver_packages();
  if (backend != "opencl") return {};
  const bool no_loader = problem.find("cannot open the OpenCL library") != std::string::npos;
  return no_loader ? opencl_loader_packages() : opencl_driver_packages();
}

}  // namespace warpalign::program::doctor
