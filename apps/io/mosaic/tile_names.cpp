// The names of tiles in messages of the library.
#include "io/mosaic/tile_names.hpp"

#include <cstddef>
#include <regex>

namespace warpalign::program {

std::string with_tile_names(const std::string& message, const std::vector<std::string>& names) {
  static const std::regex numbered("tiles? (\\d+)( and (\\d+))?");
  std::string text;
  auto rest = message.cbegin();
  const auto name = [&](const std::ssub_match& number) {
    const auto tile = static_cast<std::size_t>(std::stoul(number.str()));
    return tile < names.size() ? names[tile] : number.str();
  };
  for (std::sregex_iterator match(message.begin(), message.end(), numbered), end; match != end;
       ++match) {
    text.append(rest, (*match)[0].first);
    text += name((*match)[1]);
    if ((*match)[3].matched) text += " and " + name((*match)[3]);
    rest = (*match)[0].second;
  }
  text.append(rest, message.cend());
  return text;
}

}  // namespace warpalign::program
