// Iterates over the tags of an XML text. Supports the subset of XML that OME descriptions need.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace warpalign::program {

struct XmlTag {
  std::string name;  ///< without its namespace; "/Name" for an end tag
  std::map<std::string, std::string> attributes;
  std::size_t begin = 0;  ///< of the tag in the text, at its <
  std::size_t end = 0;    ///< behind its >

  [[nodiscard]] std::optional<std::string> attribute(const std::string& key) const;
};

class XmlTags {
 public:
  /// `text` must outlive this object.
  explicit XmlTags(std::string_view text) : text_(text) {}

  /// The next tag, or nothing after the last one or after invalid XML.
  [[nodiscard]] std::optional<XmlTag> next();

 private:
  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace warpalign::program
