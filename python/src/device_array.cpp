// Dense arrays in device memory, owned by the package or by other libraries.
#include "device_array.hpp"

#include "arrays.hpp"
#include "bindings.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <functional>
#include <numeric>
#include <utility>

namespace nb = nanobind;

namespace warpalign::python {
namespace {

constexpr std::array<std::pair<PixelType, const char*>, 10> type_names{{
    {PixelType::u8, "uint8"},
    {PixelType::i8, "int8"},
    {PixelType::u16, "uint16"},
    {PixelType::i16, "int16"},
    {PixelType::u32, "uint32"},
    {PixelType::i32, "int32"},
    {PixelType::f16, "float16"},
    {PixelType::f32, "float32"},
    {PixelType::f64, "float64"},
    {PixelType::c32, "complex64"},
}};

std::int64_t product(DeviceArray::Extents::const_iterator from,
                     DeviceArray::Extents::const_iterator to) {
  return std::accumulate(from, to, std::int64_t{1}, std::multiplies<>());
}

OpenedDevice& opened_of(const nb::object& device) { return *nb::cast<OpenedDevice*>(device); }

}  // namespace

const char* dtype_name(PixelType type) {
  for (const auto& [known, name] : type_names) {
    if (known == type) return name;
  }
  return "";
}

PixelType pixel_type_named(const std::string& dtype) {
  for (const auto& [type, name] : type_names) {
    if (dtype == name) return type;
  }
  throw nb::type_error(("arrays of " + dtype +
                        " on a device are not supported; convert them to (u)int8, (u)int16, "
                        "(u)int32, float16, float32, float64, complex64 or complex128")
                           .c_str());
}

DeviceArray::DeviceArray(nb::object device, PixelType type, Extents extents)
    : device_(std::move(device)),
      opened_(&opened_of(device_)),
      type_(type),
      extents_(std::move(extents)) {
  if (size() == 0) return;
  own_.emplace(opened_->device.make_buffer(bytes()));
  memory_.handle = interop::handle_of(*own_, opened_->backend());
}

DeviceArray::DeviceArray(nb::object device, PixelType type, Extents extents,
                         const interop::UnownedMemory& memory)
    : device_(std::move(device)),
      opened_(&opened_of(device_)),
      type_(type),
      extents_(std::move(extents)),
      memory_(memory) {
  if (size() != 0) static_cast<void>(buffer());  // throws if the memory cannot be used
}

DeviceArray::~DeviceArray() {
  const nb::gil_scoped_release released;  // a driver may wait for work before it frees memory
  own_.reset();
}

std::int64_t DeviceArray::size() const { return product(extents_.begin(), extents_.end()); }

void* DeviceArray::handle() const {
  if (opened_->backend() != "cuda") return memory_.handle;
  return static_cast<char*>(memory_.handle) + memory_.offset_bytes;
}

Image DeviceArray::image(const Shape& shape) const {
  return interop::wrap_image(opened_->device, opened_->backend(), memory_, type_, shape);
}

Buffer DeviceArray::buffer() const {
  return interop::wrap_buffer(opened_->device, opened_->backend(), memory_, bytes());
}

Shape DeviceArray::shape(int dimensions) const {
  const std::size_t n = extents_.size();
  if (static_cast<std::size_t>(dimensions) > n) refuse("the array has fewer axes than dimensions");
  Shape shape{extents_[n - 1], 1, 1};
  if (dimensions >= 2) shape.height = extents_[n - 2];
  if (dimensions >= 3) shape.depth = extents_[n - 3];
  return shape;
}

std::int64_t DeviceArray::batch(int dimensions) const {
  return product(extents_.begin(), extents_.end() - dimensions);
}

namespace {

using Queue = std::optional<std::uintptr_t>;

int ordinal_of(const std::string& id) { return std::stoi(id.substr(id.find(':') + 1)); }

nb::object dtype_of(const DeviceArray& self) {
  return nb::module_::import_("numpy").attr("dtype")(dtype_name(self.type()));
}

nb::tuple shape_tuple(const DeviceArray& self) {
  nb::list extents;
  for (const std::int64_t extent : self.extents()) extents.append(extent);
  return nb::tuple(extents);
}

nb::dlpack::dtype dlpack_type(PixelType type) {
  using Code = nb::dlpack::dtype_code;
  const auto bits = static_cast<std::uint8_t>(8 * size_of(type));
  const auto made = [&](Code code) {
    return nb::dlpack::dtype{static_cast<std::uint8_t>(code), bits, 1};
  };
  switch (type) {
    case PixelType::u8:
    case PixelType::u16:
    case PixelType::u32:
      return made(Code::UInt);
    case PixelType::i8:
    case PixelType::i16:
    case PixelType::i32:
      return made(Code::Int);
    case PixelType::c32:
      return made(Code::Complex);
    case PixelType::f16:
    case PixelType::f32:
    case PixelType::f64:
      break;
  }
  return made(Code::Float);
}

/// A DLPack capsule of CUDA memory, which keeps the array alive.
nb::object capsule_of(const nb::handle_t<DeviceArray>& self) {
  const DeviceArray& array = nb::cast<const DeviceArray&>(self);
  std::vector<std::size_t> shape(array.extents().begin(), array.extents().end());
  const auto tensor = [&](auto made) { return nb::cast(made); };
  const int ordinal = ordinal_of(array.opened().device.info().id);
  if (array.read_only()) {
    throw nb::buffer_error("a read-only array cannot be exported by DLPack");
  }
  return tensor(nb::ndarray<>(array.handle(), shape.size(), shape.data(), self, nullptr,
                              dlpack_type(array.type()), nb::device::cuda::value, ordinal));
}

void upload(DeviceArray& self, const InputArray& values, const Queue& queue) {
  if (values.nbytes() != self.bytes()) refuse("values must have the array's size in bytes");
  if (self.size() == 0) return;
  const void* from = values.data();
  const nb::gil_scoped_release released;
  self.opened().with_stream(queue, [&](Stream& stream) {
    Buffer target = self.buffer();
    stream.upload(from, self.bytes(), target);
  });
}

void download(const DeviceArray& self, const OutputArray& values, const Queue& queue) {
  if (values.nbytes() != self.bytes()) refuse("values must have the array's size in bytes");
  if (self.size() == 0) return;
  void* to = values.data();
  const nb::gil_scoped_release released;
  self.opened().with_stream(
      queue, [&](Stream& stream) { stream.download(self.buffer(), to, self.bytes()); });
}

/// Makes later work on `after` wait for the current work on `before`. None: the device's own queue.
void order_queues(OpenedDevice& opened, const Queue& before, const Queue& after) {
  const nb::gil_scoped_release released;
  Event reached(opened.device);
  opened.with_stream(before, [&](Stream& stream) { reached.record(stream); });
  opened.with_stream(after, [&](Stream& stream) { reached.wait(stream); });
}

void finish(OpenedDevice& opened, const Queue& queue) {
  const nb::gil_scoped_release released;
  opened.with_stream(queue, [](Stream& stream) { stream.finish(); });
}

void wrap(DeviceArray* self, nb::object device, const std::string& dtype,
          DeviceArray::Extents extents, std::uintptr_t handle, std::size_t offset, bool read_only) {
  interop::UnownedMemory memory;
  memory.handle = reinterpret_cast<void*>(handle);
  memory.offset_bytes = offset;
  memory.read_only = read_only;
  new (self) DeviceArray(std::move(device), pixel_type_named(dtype), std::move(extents), memory);
}

/// A view of a part of an array's memory, as another type.
DeviceArray* viewed(const DeviceArray& self, const std::string& dtype, DeviceArray::Extents extents,
                    std::size_t offset) {
  const PixelType type = pixel_type_named(dtype);
  const std::int64_t pixels = product(extents.begin(), extents.end());
  if (offset + static_cast<std::size_t>(pixels) * size_of(type) > self.bytes()) {
    refuse("the view reaches beyond the array");
  }
  interop::UnownedMemory memory = self.memory();
  memory.offset_bytes += offset;
  return new DeviceArray(self.device(), type, std::move(extents), memory);
}

void bind_class(nb::module_& module) {
  nb::class_<DeviceArray>(module, "DeviceMemory",
                          "Dense pixels on a device, the memory of a "
                          ":class:`warpalign.DeviceArray`.")
      .def(
          "__init__",
          [](DeviceArray* self, nb::object device, const std::string& dtype,
             DeviceArray::Extents extents) {
            new (self) DeviceArray(std::move(device), pixel_type_named(dtype), std::move(extents));
          },
          nb::arg("device"), nb::arg("dtype"), nb::arg("shape"))
      .def("__init__", &wrap, nb::arg("device"), nb::arg("dtype"), nb::arg("shape"),
           nb::arg("handle"), nb::arg("offset") = 0, nb::arg("read_only") = false)
      .def_prop_ro("device", &DeviceArray::device)
      .def_prop_ro("dtype", &dtype_of)
      .def_prop_ro("shape", &shape_tuple)
      .def_prop_ro("read_only", &DeviceArray::read_only)
      .def_prop_ro(
          "handle",
          [](const DeviceArray& self) { return reinterpret_cast<std::uintptr_t>(self.handle()); })
      .def("capsule", &capsule_of)
      .def("view", &viewed, nb::arg("dtype"), nb::arg("shape"), nb::arg("offset") = 0,
           nb::keep_alive<0, 1>(), nb::rv_policy::take_ownership)
      .def("upload", &upload, nb::arg("values").noconvert(), nb::arg("queue").none() = nb::none())
      .def("download", &download, nb::arg("values").noconvert(),
           nb::arg("queue").none() = nb::none());
}

}  // namespace

void bind_device_arrays(nb::module_& module) {
  bind_class(module);
  module.def("order_queues", &order_queues, nb::arg("device"), nb::arg("before").none(),
             nb::arg("after").none(),
             "Make work on a queue wait for that on another one. None is the device's own.");
  module.def("finish_queue", &finish, nb::arg("device"), nb::arg("queue").none(),
             "Wait for the work on a queue. None is the device's own.");
}

}  // namespace warpalign::python
