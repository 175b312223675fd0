// Expands names, folders and patterns to files.
#pragma once

#include <string>
#include <vector>

namespace warpalign::program {

/// Keeps files. Replaces a folder by the files in it with the extension of a readable format, and a
/// pattern (with *, ? or [, unless a file has that name) by the files that match, both in natural
/// order (f2 before f10). Throws FileError if a folder or a pattern gives nothing.
[[nodiscard]] std::vector<std::string> input_files(const std::vector<std::string>& names);

/// Whether `a` precedes `b` in natural order: runs of digits are compared by value.
[[nodiscard]] bool in_natural_order(const std::string& a, const std::string& b);

}  // namespace warpalign::program
