// The report: a single self-contained HTML file.
#include "bench/report_html.hpp"

#include "bench/charts.hpp"
#include "bench/suites.hpp"
#include "bench/tables.hpp"
#include "reports/markup.hpp"

#include <fmt/format.h>

namespace warpalign::program::bench {
namespace {

constexpr const char* style = R"(
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
@media print { details > *:not(summary) { display: none; } h2 { break-after: avoid; } }
)";

std::string list_of_suites(const Record& record) {
  std::string html;
  for (const Suite& suite : suites()) {
    if (rows_of(record, suite.name).empty()) continue;
    html += fmt::format("<a href=\"#{0}\">{0}</a>", suite.name);
  }
  return "<nav>" + html + "</nav>\n";
}

std::string header(const Record& record) {
  return fmt::format(
      "<h1>warpalign bench</h1>\n<p class=\"lead\">{} · {} · {}<br><code>{}</code></p>\n{}",
      escaped(record.program), escaped(record.date), escaped(record.host), escaped(record.command),
      list_of_suites(record));
}

std::string how_to_read(const Record& record) {
  return fmt::format(
      "<h2>How to read this</h2>\n<p class=\"lead\">Every result was verified before it was timed. "
      "Times are medians in milliseconds, by device events around runs back to back; those of "
      "registrations, which wait for results, and of the host are wall clock. {} \"/ fastest\": in "
      "units of the fastest device of the row. \"/ copy\": in units of a device copy of an f32 "
      "image of the same size on the same device, measured first: what reading and writing every "
      "pixel once costs at least, where the cache holds neither. PoCL copies on one thread and "
      "computes on all, so that its ratios can be below 1. The papers' figures stand in the rows "
      "that say so.</p>\n",
      record.settings.hot
          ? "Runs use one set of buffers again and again (--hot): small images stay in the cache."
          : "Runs rotate through several sets of buffers, so that small images do not stay in the "
            "cache.");
}

std::string suite_section(const Record& record, const Suite& suite) {
  if (rows_of(record, suite.name).empty()) return {};
  std::string html = fmt::format("<h2 id=\"{}\">{}</h2>\n", suite.name, escaped(suite.title));
  for (const std::string& chart : charts_of(record, suite.name)) html += chart;
  for (const Table& table : paper_tables(record, suite.name)) html += as_html(table);
  html += as_html(suite_table(record, suite.name));
  return html + "<details><summary>Every figure of this suite</summary>" +
         as_html(details_table(record, suite.name)) + "</details>\n";
}

std::string copy_section(const Record& record) {
  return as_html(suite_table(record, "copy")) +
         "<details><summary>Every figure of the copies</summary>" +
         as_html(details_table(record, "copy")) + "</details>\n";
}

}  // namespace

std::string report_html(const Record& record, const std::optional<Comparison>& comparison) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>warpalign bench, {}</title>\n<style>{}</style>\n</head>\n<body>\n",
      escaped(record.date), style);
  html += header(record);
  html += as_html(columns_table(record));
  if (!record.failures.empty()) {
    html += "<div class=\"bad\">" + as_html(failures_table(record)) + "</div>\n";
  }
  for (const std::string& note : record.notes) {
    html += "<p class=\"note\">Left out: " + escaped(note) + ".</p>\n";
  }
  if (comparison) html += as_html(changes_table(*comparison));
  html += how_to_read(record);
  html += copy_section(record);
  for (const Suite& suite : suites()) html += suite_section(record, suite);
  return html + "</body>\n</html>\n";
}

}  // namespace warpalign::program::bench
