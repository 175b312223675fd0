// Options and results of registrations, between Python and the library.
#pragma once

#include <nanobind/nanobind.h>

#include <warpalign/registrar.hpp>

#include <string>

namespace warpalign::python {

/// A dictionary with a value for each field, which the package's classes are made from. `matrix` is
/// its six numbers a b c d e f, and `translation` is (x, y).
nanobind::dict dict_of(const RegistrationResult& result);
/// The same for stages' device times: pairs of a name and milliseconds.
nanobind::list list_of(const std::vector<StageTiming>& timings);

/// The motion of this name. Throws ValueError, listing the known names.
Motion motion_named(const std::string& name);
const char* name_of(Motion motion);
Modality modality_named(const std::string& name);
const char* name_of(Modality modality);

}  // namespace warpalign::python
