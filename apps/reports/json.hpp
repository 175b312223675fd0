// JSON values for reports. Only json.cpp includes the JSON library, which adds many seconds to the
// compilation of a source.
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

  /// The member of this name, added if it does not exist. Null becomes an object.
  Json& operator[](const std::string& name);
  /// Adds an element. Null becomes an array.
  void push_back(Json element);
  /// Adds or replaces members with those of another object.
  void update(const Json& object);

  /// Serializes the value, indented by `indent` and with a final newline. Replaces invalid UTF-8.
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
