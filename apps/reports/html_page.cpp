// A self-contained HTML page.
#include "reports/html_page.hpp"

#include "io/markup.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace warpalign::program {
namespace {

constexpr const char* page_style = R"(
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1c2430; background: #fff;
       margin: 0 auto; padding: 28px 24px 60px; max-width: 1180px; }
h1 { font-size: 26px; margin: 0 0 4px; }
h2 { font-size: 20px; margin: 44px 0 8px; padding-top: 14px; border-top: 1px solid #d8dee6; }
h3 { font-size: 15px; margin: 24px 0 6px; }
p.lead, p.note { color: #55606e; max-width: 75em; }
p.note { font-size: 13px; margin: 4px 0 0; }
nav { margin: 14px 0 0; } nav a { margin-right: 14px; } a { color: #0b5cad; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; }
th, td { padding: 3px 10px; text-align: right; white-space: nowrap;
         font-variant-numeric: tabular-nums; border-bottom: 1px solid #edf0f3; }
thead th { color: #55606e; font-weight: 600; border-bottom: 1px solid #b9c2cc;
           vertical-align: bottom; }
th.w, td.w { text-align: left; }
td.w { white-space: normal; min-width: 7em; max-width: 26em; }
thead th { white-space: normal; }
td.best { font-weight: 700; }
td.quiet { color: #7a8592; }
tbody tr:hover td { background: #f5f8fb; }
svg { max-width: 100%; height: auto; display: block; margin: 12px 0; }
details { margin: 18px 0 0; } summary { cursor: pointer; color: #0b5cad; }
.bad { color: #a4161a; }
code { font-size: 13px; background: #f2f5f8; padding: 2px 5px; border-radius: 4px; }
figure { display: inline-block; margin: 12px 24px 12px 0; vertical-align: top; }
figure img { display: block; max-width: 540px; image-rendering: auto; border: 1px solid #d8dee6; }
figcaption { font-size: 13px; color: #55606e; padding-top: 4px; }
@media print { details > *:not(summary) { display: none; } h2 { break-after: avoid; } }
)";

std::string base64(const std::vector<std::byte>& bytes) {
  constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) {
      word = word << 8U | (k < count ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= count ? digits[word >> (18 - 6 * k) & 63U] : '=';
    }
  }
  return text;
}

}  // namespace

std::string html_page(const std::string& title, const std::string& body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      escaped(title), page_style, body);
}

std::string png_link(const LoadedImage& image) {
  return "data:image/png;base64," + base64(encode_image(image, FileFormat::png));
}

std::string html_image(const LoadedImage& image, const std::string& words) {
  return fmt::format("<img src=\"{}\" width=\"{}\" alt=\"{}\">", png_link(image), image.width,
                     escaped(words));
}

}  // namespace warpalign::program
