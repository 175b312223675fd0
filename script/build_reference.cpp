// The fixed compile that script/build-cost measures this machine by. Changing this file makes the figures
// in script/build-budget.json meaningless: measure them all anew.
#include <algorithm>
#include <array>
#include <chrono>
#include <complex>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

int main(int argc, char** argv) {
  std::map<std::string, std::vector<double>> values;
  for (int i = 0; i < argc; ++i) {
    if (std::regex_match(argv[i], std::regex("(a|b)+[0-9]*"))) {
      values[argv[i]].push_back(i);
    }
  }
  for (auto& [name, list] : values) {
    std::sort(list.begin(), list.end());
    std::cout << std::filesystem::path(name) << ' ' << list.size() << '\n';
  }
}
