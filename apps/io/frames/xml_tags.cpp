// Iterates over the tags of an XML text.
#include "io/frames/xml_tags.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace warpalign::program {
namespace {

constexpr std::string_view blanks = " \t\r\n";

std::string unescaped(std::string_view text) {
  constexpr std::array entities{std::pair("&lt;", '<'), std::pair("&gt;", '>'),
                                std::pair("&quot;", '"'), std::pair("&apos;", '\''),
                                std::pair("&amp;", '&')};
  std::string plain;
  while (!text.empty()) {
    std::size_t length = 1;
    char c = text.front();
    for (const auto& [entity, meaning] : entities) {
      if (!text.starts_with(entity)) continue;
      length = std::string_view(entity).size();
      c = meaning;
    }
    plain += c;
    text.remove_prefix(length);
  }
  return plain;
}

std::string_view without_namespace(std::string_view name) {
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

/// The end of the tag that starts before `position`. A > inside quotes does not end it.
std::size_t end_of_tag(std::string_view text, std::size_t position) {
  char quote = 0;
  for (; position < text.size(); ++position) {
    const char c = text[position];
    if (quote == 0 && c == '>') return position;
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    }
  }
  return std::string_view::npos;
}

void take_attributes(std::string_view rest, XmlTag& tag) {
  while (true) {
    const std::size_t start = rest.find_first_not_of(blanks);
    const std::size_t equals = rest.find('=');
    if (start == std::string_view::npos || equals == std::string_view::npos) return;
    std::string_view key = rest.substr(start, equals - start);
    key = key.substr(0, key.find_last_not_of(blanks) + 1);
    const std::size_t open = rest.find_first_of("\"'", equals);
    if (open == std::string_view::npos) return;
    const std::size_t close = rest.find(rest[open], open + 1);
    if (close == std::string_view::npos) return;
    tag.attributes[std::string(without_namespace(key))] =
        unescaped(rest.substr(open + 1, close - open - 1));
    rest.remove_prefix(close + 1);
  }
}

}  // namespace

std::optional<std::string> XmlTag::attribute(const std::string& key) const {
  const auto found = attributes.find(key);
  if (found == attributes.end()) return {};
  return found->second;
}

std::optional<XmlTag> XmlTags::next() {
  while (true) {
    const std::size_t start = text_.find('<', position_);
    if (start == std::string_view::npos) return {};
    if (text_.substr(start).starts_with("<!--")) {
      const std::size_t end = text_.find("-->", start);
      if (end == std::string_view::npos) return {};
      position_ = end + 3;
      continue;
    }
    const std::size_t end = end_of_tag(text_, start + 1);
    if (end == std::string_view::npos) return {};
    position_ = end + 1;
    std::string_view inside = text_.substr(start + 1, end - start - 1);
    const bool is_end = inside.starts_with('/');
    if (is_end) inside.remove_prefix(1);
    const std::size_t name_end = std::min(inside.find_first_of(" \t\r\n/"), inside.size());
    XmlTag tag;
    tag.begin = start;
    tag.end = end + 1;
    if (is_end) tag.name = '/';
    tag.name += without_namespace(inside.substr(0, name_end));
    take_attributes(inside.substr(name_end), tag);
    return tag;
  }
}

}  // namespace warpalign::program
