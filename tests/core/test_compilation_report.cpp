// The observers of kernel compilations.
#include "device/loading/compilation_report.hpp"

#include <doctest/doctest.h>

using warpalign::CompilationProgress;
using warpalign::observe_compilation;

TEST_CASE("compilation report: an observer may remove itself") {
  int calls = 0;
  observe_compilation([&](const CompilationProgress& progress) {
    ++calls;
    if (progress.finished()) observe_compilation({});
  });
  CompilationProgress progress;
  progress.total = 2;
  for (progress.compiled = 1; progress.compiled <= 2; ++progress.compiled) {
    warpalign::detail::report_compilation(progress);
    CHECK(calls == static_cast<int>(progress.compiled));
  }
  warpalign::detail::report_compilation(progress);
  CHECK(calls == 2);
}
