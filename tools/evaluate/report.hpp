// The evaluation's results as text, as JSON, and as a plot.
#pragma once

#include "accuracy/pair.hpp"
#include "evaluate/score.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace accuracy {

struct GroupResult {
  std::string name;
  std::string content;
  std::vector<Score> scores;
};

/// The table's first line, and one for a group.
[[nodiscard]] std::string table_head();
[[nodiscard]] std::string table_row(const std::string& name, const Summary& summary);

/// One pair in one line: how to run it alone, what it is, and its result.
[[nodiscard]] std::string pair_line(const std::string& group, const Pair& pair, const Score& score,
                                    const Answer& answer);

/// The details of a pair: sizes, truth, and how the images were modified.
[[nodiscard]] nlohmann::ordered_json pair_json(const Pair& pair);

/// The summary and the scores of each group. Infinite and missing numbers are null.
[[nodiscard]] nlohmann::ordered_json groups_json(const std::vector<GroupResult>& groups);

/// The share of pairs below an error, for every group of related pairs, as SVG.
[[nodiscard]] std::string error_plot(const std::vector<GroupResult>& groups);

}  // namespace accuracy
