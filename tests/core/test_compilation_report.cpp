// The observers of kernel compilations.
#include "device/loading/compilation_report.hpp"

#include <doctest/doctest.h>

using warpalign::CompilationProgress;
using warpalign::set_compilation_observer;

TEST_CASE("compilation report: an observer may remove itself") {
  int calls = 0;
  set_compilation_observer([&](const CompilationProgress& progress) {
    ++calls;
    if (progress.finished()) set_compilation_observer({});
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
