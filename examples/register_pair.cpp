#include <warpalign/warpalign.hpp>

#include <cstdio>
#include <vector>

// Registers two images of 512 x 512 8-bit pixels and prints the transform between them.
int print_registration(const std::vector<unsigned char>& reference,
                       const std::vector<unsigned char>& moving) {
  using warpalign::PixelType;
  try {
    const warpalign::Device device = warpalign::open_device();  // or "cuda:0", "opencl:pocl"
    warpalign::Registrar registrar(device);
    registrar.set_reference({reference.data(), PixelType::u8, 512, 512});
    const auto found = registrar.align({moving.data(), PixelType::u8, 512, 512});
    std::printf("%s: rotated by %.2f degrees, scaled by %.4f, confidence %.3f\n",
                device.info().name.c_str(), found.similarity.rotation_deg, found.similarity.scale,
                found.confidence);
    return found.reliable ? 0 : 1;
  } catch (const warpalign::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
