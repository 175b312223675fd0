// Converts errors of the library to exceptions of the package.
#include "errors.hpp"

#include "bindings.hpp"

#include <exception>

namespace nb = nanobind;

namespace warpalign::python {
namespace {

const char* name_of_kind(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument:
      return "invalid_argument";
    case ErrorKind::invalid_image:
      return "invalid_image";
    case ErrorKind::configuration:
      return "configuration";
    case ErrorKind::device_unavailable:
      return "device_unavailable";
    case ErrorKind::out_of_memory:
      return "out_of_memory";
    case ErrorKind::build_failed:
      return "build_failed";
    case ErrorKind::device_failure:
      return "device_failure";
  }
  return "device_failure";
}

void translate(const std::exception_ptr& thrown, void* /*payload*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const nb::object exception = exception_of(error);
    PyErr_SetObject(exception.type().ptr(), exception.ptr());
  }
}

}  // namespace

nb::object exception_of(const Error& error) {
  const ErrorContext& context = error.context();
  return nb::module_::import_("warpalign._errors")
      .attr("make_error")(name_of_kind(error.kind()), error.what(), context.stage.c_str(),
                          context.backend.c_str(), context.device.c_str(), context.call.c_str(),
                          context.code.c_str(), context.advice.c_str());
}

void bind_errors(nb::module_& /*module*/) { nb::register_exception_translator(translate); }

}  // namespace warpalign::python
