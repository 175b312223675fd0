// Reports of the compilation from a backend to the program's observer.
#include "device/loading/compilation_report.hpp"

#include <memory>
#include <mutex>
#include <utility>

namespace warpalign {

namespace {

// Never destroyed: the destructor of a static object may close a device, which reports.
struct Observed {
  // Locked while the observer runs. Recursive, because the observer may set another one.
  std::recursive_mutex mutex;
  std::shared_ptr<const CompilationObserver> observer;
};
Observed& observed() {
  static auto* const one = new Observed;
  return *one;
}

}  // namespace

void set_compilation_observer(CompilationObserver observer) {
  auto next = observer ? std::make_shared<const CompilationObserver>(std::move(observer)) : nullptr;
  const std::lock_guard lock(observed().mutex);
  observed().observer = std::move(next);
}

void detail::report_compilation(const CompilationProgress& progress) {
  const std::lock_guard lock(observed().mutex);
  const std::shared_ptr<const CompilationObserver> observer = observed().observer;
  if (observer) (*observer)(progress);
}

}  // namespace warpalign
