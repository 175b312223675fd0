// Cases that cannot run here say so, and are counted: none turns green in silence.
#pragma once

#include <doctest/doctest.h>
#include <cstdio>
#include <map>
#include <set>
#include <string>

namespace test {

/// The names of the cases that were skipped, for each reason.
inline std::map<std::string, std::set<std::string>>& skipped_cases() {
  static std::map<std::string, std::set<std::string>> cases;
  return cases;
}

/// Notes that the running case leaves out what it is there for, or a part of it, and why.
inline void skip_case(const std::string& reason) {
  skipped_cases()[reason].insert(doctest::getContextOptions()->currentTest->m_name);
}

/// One line a reason, which script/test collects.
inline void print_skipped() {
  for (const auto& [reason, cases] : skipped_cases()) {
    std::printf("skipped: %zu %s: %s\n", cases.size(), cases.size() == 1 ? "case" : "cases",
                reason.c_str());
  }
}

}  // namespace test
