// A second thread that looks for the windows of a search in a part of the views.
#pragma once

#include "registration/pair/search_helper.hpp"
#include "registration/proposers/window_search.hpp"

#include <span>

namespace warpalign::detail {

class WindowHelper {
 public:
  using Views = std::span<const WindowView>;
  using Found = std::span<const WindowMatch>;

  WindowHelper(const Device& device, const RegistrationOptions& options, const WindowCover& grid);

  /// The pair that is searched next.
  void show(const PairWork& pair);
  /// What WindowSearch::match() finds in these views while the caller does own(). Valid until the
  /// next call.
  template <class Own>
  Found beside(Views views, const Own& own) {
    return thread_.beside(views, own);
  }

 private:
  Ones ones_;
  WindowSearch search_;
  SearchHelper<Views, Found> thread_;  // which uses the others, and is ended first
};

}  // namespace warpalign::detail
