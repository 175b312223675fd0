// The tags of an XML text, one after the other: as much of XML as OME's descriptions need.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace warpalign::program {

struct XmlTag {
  std::string name;  ///< without its namespace; "/Name" for an end
  std::map<std::string, std::string> attributes;

  [[nodiscard]] std::optional<std::string> attribute(const std::string& key) const;
};

class XmlTags {
 public:
  /// `text` must outlive this.
  explicit XmlTags(std::string_view text) : text_(text) {}

  /// The next tag; nothing after the last one, and behind what is no XML.
  [[nodiscard]] std::optional<XmlTag> next();

 private:
  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace warpalign::program
