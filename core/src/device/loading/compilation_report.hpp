// Reports of the compilation from a backend to the program's observer.
#pragma once

#include <warpalign/compilation.hpp>

namespace warpalign::detail {

void report_compilation(const CompilationProgress& progress);

}  // namespace warpalign::detail
