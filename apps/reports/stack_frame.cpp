// The result for one frame of a stack.
#include "reports/stack_frame.hpp"

#include "reports/ambiguity.hpp"

namespace warpalign::program {

const char* name_of(StackReference reference) {
  switch (reference) {
    case StackReference::first:
      return "first";
    case StackReference::previous:
      return "previous";
    case StackReference::mean:
      break;
  }
  return "mean";
}

const char* StackFrame::status() const {
  if (!trouble.empty()) return "failed";
  return status_of(place);
}

}  // namespace warpalign::program
