// The report: a single self-contained HTML file.
#include "bench/report_html.hpp"

#include "bench/charts.hpp"
#include "bench/suites.hpp"
#include "bench/tables.hpp"
#include "io/markup.hpp"
#include "reports/html_page.hpp"

#include <fmt/format.h>

namespace warpalign::program::bench {
namespace {

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
      "Times are medians in milliseconds from device events around consecutive runs. Times of the "
      "host, and of registrations, which wait for results, are wall-clock times. {} \"/ fastest\": "
      "relative to the fastest device of the row. \"/ copy\": relative to a copy of an f32 image "
      "of the same size on the same device, which is the lower bound for reading and writing every "
      "pixel once without a cache. PoCL copies on one thread and computes on all, so its ratios "
      "can "
      "be below 1. Rows with the papers' figures are labelled.</p>\n",
      record.settings.hot
          ? "All runs use the same set of buffers (--hot), so small images stay in the cache."
          : "Runs rotate through several sets of buffers, so small images do not stay in the "
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
  std::string html = header(record);
  html += as_html(columns_table(record));
  if (!record.failures.empty()) {
    html += "<div class=\"bad\">" + as_html(failures_table(record)) + "</div>\n";
  }
  for (const std::string& note : record.notes) {
    html += "<p class=\"note\">Skipped: " + escaped(note) + ".</p>\n";
  }
  if (comparison) html += as_html(changes_table(*comparison));
  html += how_to_read(record);
  html += copy_section(record);
  for (const Suite& suite : suites()) html += suite_section(record, suite);
  return html_page("warpalign bench, " + record.date, html);
}

}  // namespace warpalign::program::bench
