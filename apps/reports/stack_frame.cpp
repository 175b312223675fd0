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
      return "mean";
    case StackReference::automatic:
      return "auto";
    case StackReference::frame:
      return "frame";
    case StackReference::known:
      return "apply";
    case StackReference::file:
      break;
  }
  return "file";
}

bool is_fixed(StackReference reference) {
  return reference != StackReference::previous && reference != StackReference::mean;
}

const char* text_of(DriftOrigin::Reason reason) {
  switch (reason) {
    case DriftOrigin::Reason::first_usable:
      return "the first usable frame";
    case DriftOrigin::Reason::unconfirmed:
      return "the first frame that is not constant; none of the next frames registers to another";
    case DriftOrigin::Reason::sharpest:
      return "the sharpest, most textured frame";
    case DriftOrigin::Reason::named:
      return "named by --to";
    case DriftOrigin::Reason::applied:
      return "named by --apply";
    case DriftOrigin::Reason::none:
      break;
  }
  return "no frame is usable";
}

const char* StackFrame::status() const {
  if (!trouble.empty()) return "failed";
  return status_of(place);
}

}  // namespace warpalign::program
