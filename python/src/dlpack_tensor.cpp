// Reads DLPack capsules, by which other libraries describe their arrays.
#include "bindings.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <optional>
#include <string>

namespace nb = nanobind;

namespace warpalign::python {
namespace {

/// Owns the memory of a capsule until it is destroyed.
class DlpackTensor {
 public:
  explicit DlpackTensor(const nb::object& capsule) {
    nb::ndarray<> writable;
    if (nb::try_cast(capsule, writable, false)) {
      tensor_ = nb::ndarray<nb::ro>(writable);
      return;
    }
    if (!nb::try_cast(capsule, tensor_, false)) {
      throw nb::type_error("the object is not a DLPack capsule, or its capsule was used before");
    }
    read_only_ = true;
  }

  [[nodiscard]] const nb::ndarray<nb::ro>& tensor() const { return tensor_; }
  [[nodiscard]] bool read_only() const { return read_only_; }

  [[nodiscard]] bool contiguous() const {
    std::int64_t dense = 1;
    for (std::size_t i = tensor_.ndim(); i-- > 0;) {
      const auto extent = static_cast<std::int64_t>(tensor_.shape(i));
      if (extent != 1 && tensor_.stride(i) != dense) return tensor_.size() == 0;
      dense *= extent;
    }
    return true;
  }

  /// NumPy's name of the type, or a similar one.
  [[nodiscard]] std::string dtype() const {
    const nb::dlpack::dtype type = tensor_.dtype();
    if (type.lanes != 1) return "vectors";
    return name_of(static_cast<nb::dlpack::dtype_code>(type.code), std::to_string(type.bits));
  }

 private:
  static std::string name_of(nb::dlpack::dtype_code code, const std::string& bits) {
    switch (code) {
      case nb::dlpack::dtype_code::Int:
        return "int" + bits;
      case nb::dlpack::dtype_code::UInt:
        return "uint" + bits;
      case nb::dlpack::dtype_code::Float:
        return "float" + bits;
      case nb::dlpack::dtype_code::Complex:
        return "complex" + bits;
      case nb::dlpack::dtype_code::Bool:
        return "bool";
      case nb::dlpack::dtype_code::Bfloat:
        return "bfloat" + bits;
      default:
        return "an unknown type";
    }
  }

  nb::ndarray<nb::ro> tensor_;
  bool read_only_ = false;
};

nb::tuple shape_tuple(const DlpackTensor& self) {
  nb::list extents;
  for (std::size_t i = 0; i < self.tensor().ndim(); ++i) extents.append(self.tensor().shape(i));
  return nb::tuple(extents);
}

}  // namespace

void bind_dlpack(nb::module_& module) {
  nb::class_<DlpackTensor>(module, "DlpackTensor",
                           "The contents of a DLPack capsule, whose memory it keeps alive.")
      .def(nb::init<const nb::object&>(), nb::arg("capsule"))
      .def_prop_ro("address",
                   [](const DlpackTensor& self) {
                     return reinterpret_cast<std::uintptr_t>(self.tensor().data());
                   })
      .def_prop_ro("device",
                   [](const DlpackTensor& self) {
                     return nb::make_tuple(self.tensor().device_type(), self.tensor().device_id());
                   })
      .def_prop_ro("dtype", &DlpackTensor::dtype)
      .def_prop_ro("shape", &shape_tuple)
      .def_prop_ro("contiguous", &DlpackTensor::contiguous)
      .def_prop_ro("read_only", &DlpackTensor::read_only);
}

}  // namespace warpalign::python
