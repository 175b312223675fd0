// The way from a backend's compiler to the program's observer.
#include "device/compilation_report.hpp"

#include <mutex>
#include <utility>

namespace warpalign {

namespace {

// Never destroyed: a device that is closed by a static object's destructor may still report.
struct Observed {
  std::mutex mutex;
  CompilationObserver observer;
};
Observed& observed() {
  static auto* const one = new Observed;
  return *one;
}

}  // namespace

void observe_compilation(CompilationObserver observer) {
  const std::lock_guard lock(observed().mutex);
  observed().observer = std::move(observer);
}

void detail::report_compilation(const CompilationProgress& progress) {
  const std::lock_guard lock(observed().mutex);
  if (observed().observer) observed().observer(progress);
}

}  // namespace warpalign
