// The folders of configuration, cache and modules (XDG base directories).
#pragma once

#include <filesystem>

namespace warpalign::detail {

/// `$XDG_CONFIG_HOME/warpalign`, or else `~/.config/warpalign`; empty if neither is known.
std::filesystem::path config_folder();
/// `$XDG_CACHE_HOME/warpalign`, or else `~/.cache/warpalign`; empty if neither is known.
std::filesystem::path cache_folder();
/// The file that this library was loaded from, with resolved links; empty if it is not known.
std::filesystem::path library_file();
/// The folder of that file.
std::filesystem::path library_folder();

}  // namespace warpalign::detail
