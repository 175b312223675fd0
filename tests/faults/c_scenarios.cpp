// Every function of the C interface that uses a device.
#include "faults/bench.hpp"
#include "faults/scenarios.hpp"
#include "support/blobs.hpp"

#include <warpalign/warpalign.h>

#include <array>
#include <map>
#include <stdexcept>

namespace faults {

namespace {

using namespace warpalign;

constexpr std::int64_t width = 64;
constexpr std::int64_t height = 48;

/// The ErrorKind of a status. Other statuses do not come from a device's failure.
ErrorKind kind_of(warpalign_status status) {
  switch (status) {
    case WARPALIGN_OUT_OF_MEMORY:
      return ErrorKind::out_of_memory;
    case WARPALIGN_BUILD_FAILED:
      return ErrorKind::build_failed;
    case WARPALIGN_DEVICE_FAILURE:
      return ErrorKind::device_failure;
    case WARPALIGN_DEVICE_UNAVAILABLE:
      return ErrorKind::device_unavailable;
    default:
      throw std::runtime_error(std::string(warpalign_status_name(status)) + ": " +
                               warpalign_last_error());
  }
}

void require(warpalign_status status) {
  if (status == WARPALIGN_OK) return;
  const ErrorKind kind = kind_of(status);
  const std::string text = warpalign_last_error();
  if (text.empty()) throw std::runtime_error("a status without words");
  throw Error(kind, text, {.stage = "C", .backend = "opencl"});
}

/// Opens the device once, so that kernels and plans are created once.
warpalign_device opened(const Device& like) {
  static std::map<std::string, warpalign_device> devices;
  warpalign_device& device = devices[like.info().id];
  if (device.id == 0) require(warpalign_open_device(like.info().id.c_str(), &device));
  return device;
}

const test::BlobImage& blobs() {
  static const test::BlobImage drawn = test::draw_blobs({width, height, 1}, {});
  return drawn;
}

warpalign_image view() { return {blobs().pixels.data(), WARPALIGN_U8, width, height, 1, 0}; }

template <class Struct>
Bytes bytes_of(const Struct& found) {
  Bytes bytes;
  append(bytes, found);
  return bytes;
}

Bytes register_a_pair(warpalign_device device) {
  const warpalign_image image = view();
  warpalign_registration found{};
  found.struct_size = sizeof found;
  require(warpalign_register(device, &image, &image, nullptr, &found));
  return bytes_of(found);
}

Bytes use_a_registrar(warpalign_device device) {
  const warpalign_image image = view();
  warpalign_registrar registrar{};
  require(warpalign_make_registrar(device, nullptr, &registrar));
  const std::shared_ptr<void> ends(nullptr, [=](void*) { warpalign_destroy_registrar(registrar); });
  require(warpalign_set_reference(registrar, &image, nullptr));
  warpalign_registration found{};
  found.struct_size = sizeof found;
  require(warpalign_align(registrar, &image, nullptr, &found));
  return bytes_of(found);
}

Bytes resample(warpalign_device device) {
  const warpalign_image image = view();
  constexpr std::array<double, 6> matrix{0.97, -0.1, 3, 0.12, 0.96, 2};
  std::array<double, 16> transform{};
  require(warpalign_transform_from_affine(matrix.data(), transform.data()));
  Bytes pixels(static_cast<std::size_t>(width * height));
  const warpalign_output output{pixels.data(), WARPALIGN_U8, width, height, 1};
  require(warpalign_resample(device, &image, transform.data(), nullptr, &output));
  return pixels;
}

Bytes prefilter(warpalign_device device) {
  const warpalign_image image = view();
  Bytes coefficients(static_cast<std::size_t>(width * height) * sizeof(float));
  const warpalign_output output{coefficients.data(), WARPALIGN_F32, width, height, 1};
  require(warpalign_prefilter(device, &image, nullptr, &output));
  return coefficients;
}

Scenario scenario(const std::string& name, Bytes (*use)(warpalign_device)) {
  return {"in C: " + name, [use](const Device& device) -> Work {
            const warpalign_device same = opened(device);
            return [use, same] { return use(same); };
          }};
}

}  // namespace

std::vector<Scenario> c_scenarios() {
  return {scenario("register", &register_a_pair), scenario("registrar", &use_a_registrar),
          scenario("resample", &resample), scenario("prefilter", &prefilter)};
}

}  // namespace faults
