// Converts errors of the library to exceptions of the package.
#pragma once

#include <nanobind/nanobind.h>

#include <warpalign/error.hpp>

namespace warpalign::python {

/// Makes the exception, of a class in warpalign._errors. The caller holds the GIL.
nanobind::object exception_of(const Error& error);

}  // namespace warpalign::python
