// Counts the cases that cannot run here, so that no skipped case passes silently.
#pragma once

#include <doctest/doctest.h>
#include <cstdio>
#include <map>
#include <set>
#include <string>

namespace test {

/// The names of the skipped cases, by reason.
inline std::map<std::string, std::set<std::string>>& skipped_cases() {
  static std::map<std::string, std::set<std::string>> cases;
  return cases;
}

/// Records that the running case skips its purpose, or a part of it, and why.
inline void skip_case(const std::string& reason) {
  skipped_cases()[reason].insert(doctest::getContextOptions()->currentTest->m_name);
}

/// Prints one line for each reason. script/test collects these lines.
inline void print_skipped() {
  for (const auto& [reason, cases] : skipped_cases()) {
    std::printf("skipped: %zu %s: %s\n", cases.size(), cases.size() == 1 ? "case" : "cases",
                reason.c_str());
  }
}

}  // namespace test
