// The files that are meant by names, folders and patterns.
#pragma once

#include <string>
#include <vector>

namespace warpalign::program {

/// Files stay as they are. A folder gives the files in it whose extension is that of a readable
/// format, and a pattern with *, ? or [ that is no file's name gives what matches it; both in
/// natural order (f2 before f10). Throws FileError where a folder or a pattern gives nothing.
[[nodiscard]] std::vector<std::string> input_files(const std::vector<std::string>& names);

/// Whether `a` comes before `b`, with runs of digits compared by their value.
[[nodiscard]] bool in_natural_order(const std::string& a, const std::string& b);

}  // namespace warpalign::program
