// A second thread that looks for the windows of a search in a part of the views.
#include "registration/proposers/window_helper.hpp"

namespace warpalign::detail {

WindowHelper::WindowHelper(const Device& device, const RegistrationOptions& options,
                           const WindowCover& grid)
    : ones_(device, max_searched_levels),
      search_(device, options, ones_, grid),
      thread_(device,
              [this](const PairWork& work, Views views) { return search_.match(work, views); }) {}

void WindowHelper::show(const PairWork& pair) {
  search_.forget_pair();
  thread_.show(pair);
}

}  // namespace warpalign::detail
