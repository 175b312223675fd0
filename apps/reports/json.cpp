// JSON values, serialized by nlohmann's library.
#include "reports/json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace warpalign::program {

/// The value as nlohmann's type.
struct JsonLibrary {
  nlohmann::ordered_json operator()(std::monostate) const { return nullptr; }
  nlohmann::ordered_json operator()(const Json::Array& elements) const {
    auto array = nlohmann::ordered_json::array();
    for (const Json& element : elements) array.push_back(of(element));
    return array;
  }
  nlohmann::ordered_json operator()(const Json::Object& members) const {
    auto object = nlohmann::ordered_json::object();
    for (const auto& [name, member] : members) object[name] = of(member);
    return object;
  }
  template <class Scalar>
  nlohmann::ordered_json operator()(const Scalar& value) const {
    return value;
  }
  static nlohmann::ordered_json of(const Json& json) {
    return std::visit(JsonLibrary{}, json.value_);
  }
};

Json::Json(std::vector<std::string> values) {
  Array elements;
  for (std::string& value : values) elements.emplace_back(std::move(value));
  value_ = std::move(elements);
}

Json Json::array() {
  Json json;
  json.value_ = Array();
  return json;
}

Json Json::object(std::initializer_list<std::pair<std::string, Json>> members) {
  Json json;
  json.value_ = Object(members);
  return json;
}

Json& Json::operator[](const std::string& name) {
  if (std::holds_alternative<std::monostate>(value_)) value_ = Object();
  auto& members = std::get<Object>(value_);
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const auto& member) { return member.first == name; });
  if (found != members.end()) return found->second;
  return members.emplace_back(name, Json()).second;
}

void Json::push_back(Json element) {
  if (std::holds_alternative<std::monostate>(value_)) value_ = Array();
  std::get<Array>(value_).push_back(std::move(element));
}

void Json::update(const Json& object) {
  for (const auto& [name, member] : std::get<Object>(object.value_)) (*this)[name] = member;
}

std::string Json::text(int indent) const {
  constexpr auto replace = nlohmann::ordered_json::error_handler_t::replace;
  return JsonLibrary::of(*this).dump(indent, ' ', false, replace) + "\n";
}

}  // namespace warpalign::program
