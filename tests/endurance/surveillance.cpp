// The resources that a process holds, and their change over a long run.
#include "endurance/surveillance.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>

namespace endurance {

namespace {

struct Chart {
  const char* title;
  double (*value)(const Sample&);
};

constexpr std::array charts{
    Chart{"milliseconds of a registration", [](const Sample& s) { return s.milliseconds; }},
    Chart{"resident host memory, MB", [](const Sample& s) { return s.host_megabytes; }},
    Chart{"device memory alive, MB", [](const Sample& s) { return s.device_megabytes; }},
    Chart{"open files", [](const Sample& s) { return static_cast<double>(s.descriptors); }}};

constexpr double width = 860, height = 150, left = 80, top = 50, gap = 60;

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g", value);
  return text.data();
}

/// Draws a chart with an axis from 0 to the largest value.
void draw(std::ostream& out, const Chart& chart, const std::vector<Sample>& samples, double y) {
  double largest = 1e-9;
  for (const Sample& sample : samples) largest = std::max(largest, chart.value(sample));
  const auto total = static_cast<double>(samples.back().registrations);
  out << "<text x='" << left << "' y='" << y - 8 << "'>" << chart.title << "</text>\n"
      << "<rect x='" << left << "' y='" << y << "' width='" << width << "' height='" << height
      << "' fill='none' stroke='#999'/>\n"
      << "<text x='" << left - 6 << "' y='" << y + 10 << "' text-anchor='end'>" << number(largest)
      << "</text>\n<text x='" << left - 6 << "' y='" << y + height
      << "' text-anchor='end'>0</text>\n<polyline fill='none' stroke='#06c' points='";
  for (const Sample& sample : samples) {
    out << left + width * static_cast<double>(sample.registrations) / total << ','
        << y + height * (1 - chart.value(sample) / largest) << ' ';
  }
  out << "'/>\n";
}

}  // namespace

double resident_megabytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator descriptors("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(descriptors), end(descriptors))) - 1;
}

void write_csv(const std::filesystem::path& file, const std::vector<Sample>& samples) {
  std::ofstream out(file);
  out << "registrations,failures,milliseconds,host_megabytes,device_megabytes,device_objects,"
         "descriptors\n";
  for (const Sample& s : samples) {
    out << s.registrations << ',' << s.failures << ',' << s.milliseconds << ',' << s.host_megabytes
        << ',' << s.device_megabytes << ',' << s.device_objects << ',' << s.descriptors << '\n';
  }
}

void write_plot(const std::filesystem::path& file, const std::vector<Sample>& samples,
                const std::string& title) {
  if (samples.empty()) return;
  const double whole = top + static_cast<double>(charts.size()) * (height + gap);
  std::ofstream out(file);
  out << "<svg xmlns='http://www.w3.org/2000/svg' width='" << left + width + 20 << "' height='"
      << whole << "' font-family='sans-serif' font-size='12'>\n<rect width='100%' height='100%' "
      << "fill='white'/>\n<text x='" << left << "' y='20' font-size='14'>" << title << "</text>\n";
  double y = top;
  for (const Chart& chart : charts) {
    draw(out, chart, samples, y);
    y += height + gap;
  }
  out << "<text x='" << left + width << "' y='" << y - gap + 18 << "' text-anchor='end'>"
      << samples.back().registrations << " registrations</text>\n</svg>\n";
}

Trend trend_of(const std::vector<Sample>& samples, double Sample::*value) {
  const std::size_t first = samples.size() / 4;
  const auto n = static_cast<double>(samples.size() - first);
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = first; i < samples.size(); ++i) {
    const double x = static_cast<double>(samples[i].registrations) * 1e-6;
    const double y = samples[i].*value;
    sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  const double spread = n * sxx - sx * sx;
  if (!(spread > 0)) return {};
  const double slope = (n * sxy - sx * sy) / spread;
  return {slope, slope / (sy / n)};
}

}  // namespace endurance
