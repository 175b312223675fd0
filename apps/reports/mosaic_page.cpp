// The report of a mosaic as one HTML page.
#include "reports/mosaic_page.hpp"

#include "io/markup.hpp"
#include "reports/html_page.hpp"
#include "reports/mosaic_lines.hpp"
#include "reports/mosaic_overview.hpp"
#include "reports/tile_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace warpalign::program {
namespace {

constexpr std::size_t max_left_out = 200;
constexpr std::size_t max_overlays = 24;
constexpr std::size_t max_seams = 12;

double residual_length(const MosaicPair& pair) {
  return std::hypot(pair.residual.x, pair.residual.y);
}

std::vector<const MosaicPair*> pairs_with(const MosaicReport& report, bool used) {
  std::vector<const MosaicPair*> pairs;
  for (const MosaicPair& pair : report.mosaic.pairs) {
    if ((pair.outcome == PairOutcome::used) == used) pairs.push_back(&pair);
  }
  return pairs;
}

std::string names_of(const MosaicReport& report, const MosaicPair& pair) {
  return escaped(report.files[pair.reference] + " and " + report.files[pair.moving]);
}

/// Red for 0, green for 1.
std::string colour_of(double confidence) {
  return fmt::format("hsl({:.0f} 80% 45%)", 130 * std::clamp(confidence, 0.0, 1.0));
}

/// The overview with drawings over it, in pixels of the overview.
class OverviewMap {
 public:
  OverviewMap(const MosaicReport& report, const MosaicOverview& overview)
      : report_(report), overview_(overview) {}

  [[nodiscard]] std::string draw() const {
    const LoadedImage& picture = overview_.picture;
    std::string svg = fmt::format(
        "<svg viewBox=\"-12 -12 {} {}\" width=\"{}\" xmlns=\"http://www.w3.org/2000/svg\" "
        "role=\"img\" aria-label=\"overview with pairs and residuals\">\n"
        "<image href=\"{}\" width=\"{}\" height=\"{}\"/>\n",
        picture.width + 24, picture.height + 24, picture.width + 24, png_link(picture),
        picture.width, picture.height);
    for (std::size_t i = 0; i < report_.files.size(); ++i) svg += outline(i);
    for (const MosaicPair* pair : pairs_with(report_, false)) svg += link(*pair);
    for (const MosaicPair* pair : pairs_with(report_, true)) svg += link(*pair);
    for (const MosaicPair* pair : pairs_with(report_, true)) svg += arrow(*pair);
    return svg + "</svg>\n";
  }

  /// By how much the arrows are longer than the residuals at the mosaic's scale.
  [[nodiscard]] double magnification() const {
    constexpr double longest_arrow = 0.2;  // of a tile's shorter side
    double largest = 0;
    for (const MosaicPair* pair : pairs_with(report_, true)) {
      largest = std::max(largest, residual_length(*pair));
    }
    if (!(largest > 0)) return 1;
    const auto side = static_cast<double>(std::min(report_.tile.width, report_.tile.height));
    return std::pow(10, std::floor(std::log10(longest_arrow * side / largest)));
  }

 private:
  [[nodiscard]] Point center(std::size_t tile) const {
    const Point p = middle_of(report_.mosaic.tiles[tile], report_.tile);
    return {p.x / overview_.shrunk_by, p.y / overview_.shrunk_by};
  }

  [[nodiscard]] std::string outline(std::size_t tile) const {
    const LocatedTile& located = report_.mosaic.tiles[tile];
    const bool by_stage = located.pairs == 0;
    std::string points;
    for (const Point& p : outline_of(located, report_.tile)) {
      points += fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", p.x / overview_.shrunk_by,
                            p.y / overview_.shrunk_by);
    }
    return fmt::format(
        "<polygon points=\"{}\" fill=\"{}\" "
        "stroke=\"{}\" stroke-width=\"{}\"{}><title>{}: {:.2f}, {:.2f}{}</title></polygon>\n",
        points, by_stage ? "rgb(255 140 0 / 0.25)" : "transparent",
        by_stage ? "darkorange" : "steelblue", by_stage ? 2 : 1,
        by_stage ? " stroke-dasharray=\"6 4\"" : "", escaped(report_.files[tile]),
        located.position.x, located.position.y,
        !by_stage                 ? ""
        : report_.positions_known ? ", placed by the stage model"
                                  : ", placed by nothing");
  }

  [[nodiscard]] std::string link(const MosaicPair& pair) const {
    const Point from = center(pair.reference);
    const Point to = center(pair.moving);
    const bool used = pair.outcome == PairOutcome::used;
    return fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
        "stroke-width=\"3\"{}><title>{}: {}, confidence {:.2f}</title></line>\n",
        from.x, from.y, to.x, to.y, used ? colour_of(pair.confidence) : "#d00",
        used ? "" : " stroke-dasharray=\"4 5\"", names_of(report_, pair), name_of(pair.outcome),
        pair.confidence);
  }

  [[nodiscard]] std::string arrow(const MosaicPair& pair) const {
    const Point from = center(pair.reference);
    const Point to = center(pair.moving);
    const Point middle{(from.x + to.x) / 2, (from.y + to.y) / 2};
    const double factor = magnification() / overview_.shrunk_by;
    return fmt::format(
        "<g stroke=\"#ff2fd6\" stroke-width=\"2.5\"><line x1=\"{0:.1f}\" y1=\"{1:.1f}\" "
        "x2=\"{2:.1f}\" y2=\"{3:.1f}\"/><circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"2\"/>"
        "<title>{4}: residual {5:.3f}, {6:.3f} px</title></g>\n",
        middle.x, middle.y, middle.x + factor * pair.residual.x,
        middle.y + factor * pair.residual.y, names_of(report_, pair), pair.residual.x,
        pair.residual.y);
  }

  const MosaicReport& report_;
  const MosaicOverview& overview_;
};

std::string figure_of(const LoadedImage& picture, const std::string& caption) {
  return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n",
                     html_image(picture, caption), caption);
}

std::string summary(const MosaicReport& report) {
  const Mosaic& mosaic = report.mosaic;
  std::string html = fmt::format(
      "<h1>warpalign mosaic</h1>\n<p class=\"lead\">{} tiles of {} make a mosaic of {} x {}: {} of "
      "{} pairs used<br>{} ({}, {})</p>\n",
      mosaic.tiles.size(), escaped(report.description), mosaic.shape.width, mosaic.shape.height,
      pairs_with(report, true).size(), mosaic.pairs.size(), escaped(report.device.name),
      escaped(report.device.id), escaped(report.device.platform));
  if (const std::size_t count = tiles_by_stage(mosaic); count > 0) {
    html += fmt::format(
        "<p>Tiles without a used pair: {}. {} (orange).</p>\n", count,
        report.positions_known ? "The stage model places them" : "They lie beside the others");
  }
  if (const std::size_t count = components_of_several(mosaic); count > 1) {
    html +=
        fmt::format("<p class=\"bad\">No used pair connects {} parts of the mosaic.</p>\n", count);
  }
  return html;
}

std::string left_out_section(const MosaicReport& report, TileFiles& files) {
  const std::vector<const MosaicPair*> pairs = pairs_with(report, false);
  std::string html = "<h2>Pairs that were left out</h2>\n";
  if (pairs.empty()) return html + "<p>None.</p>\n";
  html +=
      "<div class=\"scroll\"><table>\n<thead><tr><th class=\"w\">tiles</th>"
      "<th class=\"w\">outcome</th><th>confidence</th><th class=\"w\">why</th></tr></thead>\n"
      "<tbody>\n";
  const std::size_t shown = std::min(pairs.size(), max_left_out);
  for (std::size_t i = 0; i < shown; ++i) {
    html += fmt::format(
        "<tr><td class=\"w\">{}</td><td class=\"w\">{}</td><td>{:.2f}</td><td class=\"w\">{}</td>"
        "</tr>\n",
        names_of(report, *pairs[i]), name_of(pairs[i]->outcome), pairs[i]->confidence,
        escaped(pairs[i]->reason));
  }
  html += "</tbody></table></div>\n";
  if (pairs.size() > shown) {
    html += fmt::format("<p class=\"note\">And {} more.</p>\n", pairs.size() - shown);
  }
  for (std::size_t i = 0; i < std::min(pairs.size(), max_overlays); ++i) {
    if (const auto picture = draw_seam(report, files, *pairs[i])) {
      html += figure_of(*picture, names_of(report, *pairs[i]));
    }
  }
  return html;
}

std::string seam_section(const MosaicReport& report, TileFiles& files) {
  std::vector<const MosaicPair*> pairs = pairs_with(report, true);
  if (pairs.empty()) return {};
  std::stable_sort(pairs.begin(), pairs.end(), [](const MosaicPair* a, const MosaicPair* b) {
    return residual_length(*a) > residual_length(*b);
  });
  pairs.resize(std::min(pairs.size(), max_seams));
  std::string html =
      "<h2>Seams with the largest residuals</h2>\n<p class=\"note\">Left: one tile in green over "
      "the other one in magenta, gray where they agree. Right: a checkerboard of both.</p>\n";
  for (const MosaicPair* pair : pairs) {
    if (const auto picture = draw_seam(report, files, *pair)) {
      html += figure_of(
          *picture, fmt::format("{}: residual {:.3f} px, confidence {:.2f}",
                                names_of(report, *pair), residual_length(*pair), pair->confidence));
    }
  }
  return html;
}

}  // namespace

std::string mosaic_page(const MosaicReport& report, TileFiles& files) {
  const MosaicOverview overview = draw_overview(report, files);
  const OverviewMap map(report, overview);
  std::string html = summary(report) + "<h2>Pairs and residuals</h2>\n" + map.draw();
  html += fmt::format(
      "<p class=\"note\">Lines: used pairs, from red (confidence 0) to green (1); dashed red: left "
      "out. Arrows: residuals, {:g} times as long. Hover for names and numbers.</p>\n",
      map.magnification());
  return html_page("warpalign mosaic",
                   html + left_out_section(report, files) + seam_section(report, files));
}

}  // namespace warpalign::program
