// JSON values for reports. The JSON library is confined to json.cpp, because every source that
// includes it takes many seconds longer to compile.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace warpalign::program {

/// Null, a boolean, a number, a string, an array, or an object that keeps its members' order.
class Json {
 public:
  Json() = default;
  Json(std::nullptr_t) {}
  template <std::same_as<bool> T>
  Json(T value) : value_(value) {}
  template <std::signed_integral T>
  Json(T value) : value_(static_cast<std::int64_t>(value)) {}
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>) Json(T value) : value_(static_cast<std::uint64_t>(value)) {}
  Json(double value) : value_(value) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::vector<std::string> values);
  /// An array.
  Json(std::initializer_list<Json> values) : value_(Array(values)) {}

  [[nodiscard]] static Json array();
  [[nodiscard]] static Json object(
      std::initializer_list<std::pair<std::string, Json>> members = {});

  /// The member of this name, added where there is none; null becomes an object.
  Json& operator[](const std::string& name);
  /// Adds an element; null becomes an array.
  void push_back(Json element);
  /// Adds the members of another object, or replaces them.
  void update(const Json& object);

  /// Indented by `indent`, with a newline at the end. Invalid UTF-8 is replaced.
  [[nodiscard]] std::string text(int indent = 2) const;

 private:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;
  friend struct JsonLibrary;

  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array,
               Object>
      value_;
};

}  // namespace warpalign::program
