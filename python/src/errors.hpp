// Errors of the library as exceptions of the package.
#pragma once

#include <nanobind/nanobind.h>

#include <warpalign/error.hpp>

namespace warpalign::python {

/// The exception, of a class of warpalign._errors. Needs the GIL.
nanobind::object exception_of(const Error& error);

}  // namespace warpalign::python
