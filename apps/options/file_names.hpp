// Whether two names refer to the same file.
#pragma once

#include <filesystem>
#include <string>

namespace warpalign::program {

/// Throws UsageError, naming the option or argument, where `written` is the same file as `other`.
void refuse_same(const std::string& option, const std::filesystem::path& written,
                 const std::filesystem::path& other);

}  // namespace warpalign::program
