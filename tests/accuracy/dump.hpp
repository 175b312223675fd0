// Pairs as files, for programs that are not linked with the library.
#pragma once

#include "accuracy/pair.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace accuracy {

/// Writes the pictures as 8-bit PNG while the pairs are made, and `truth.json`, which lists them,
/// at the end: where it is there, all of them are.
class Dump {
 public:
  /// Makes the folder. Throws FileError where it holds a truth.json already, or cannot be written.
  explicit Dump(const std::filesystem::path& folder);
  void add(const std::string& group, std::size_t index, const Pair& pair);
  /// `about` opens truth.json: how the pairs were made.
  void commit(nlohmann::ordered_json about);

 private:
  std::filesystem::path folder_;
  nlohmann::ordered_json pairs_ = nlohmann::ordered_json::array();
};

}  // namespace accuracy
