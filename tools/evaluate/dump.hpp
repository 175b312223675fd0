// Writes pairs to files, for programs that are not linked with the library.
#pragma once

#include "accuracy/pair.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace accuracy {

/// Writes the images as 8-bit PNG as the pairs are made, and `truth.json`, which lists them, at the
/// end: if it exists, all images do.
class Dump {
 public:
  /// Creates the folder. Throws FileError if it already has a truth.json or cannot be written to.
  explicit Dump(const std::filesystem::path& folder);
  void add(const std::string& group, std::size_t index, const Pair& pair);
  /// `about`, how the pairs were made, stands at the beginning of truth.json.
  void commit(nlohmann::ordered_json about);

 private:
  std::filesystem::path folder_;
  nlohmann::ordered_json pairs_ = nlohmann::ordered_json::array();
};

}  // namespace accuracy
