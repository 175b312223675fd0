// The way from a backend's compiler to the program's observer.
#pragma once

#include <warpalign/compilation.hpp>

namespace warpalign::detail {

void report_compilation(const CompilationProgress& progress);

}  // namespace warpalign::detail
