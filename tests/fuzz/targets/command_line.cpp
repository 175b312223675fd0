// Command lines: each line of the input is an argument. They are parsed, but not run.
#include "options/command_line.hpp"
#include "commands/commands.hpp"
#include "io/input_limits.hpp"
#include "io/messages.hpp"
#include "io/usage_error.hpp"
#include "reader.hpp"

#include <array>
#include <iostream>
#include <limits>
#include <sstream>

namespace warpalign::fuzz {
namespace {

using namespace program;

constexpr std::array commands{
    add_register_command,  add_register_volume_command, add_stack_command,  add_resample_command,
    add_prefilter_command, add_devices_command,         add_doctor_command, add_warm_up_command,
    add_bench_command,     add_experiment_command};

/// --help prints to std::cout.
class Silence {
 public:
  Silence() : before_(std::cout.rdbuf(nowhere_.rdbuf())) {}
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;
  ~Silence() { std::cout.rdbuf(before_); }

 private:
  std::ostringstream nowhere_;
  std::streambuf* before_;
};

void run(Input input) {
  Reader reader(input);
  std::istringstream lines(reader.text());
  std::vector<std::string> arguments{"warpalign"};
  for (std::string line; std::getline(lines, line) && arguments.size() < 64;) {
    arguments.push_back(line);
  }
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  const Silence silence;
  CommandLine line("warpalign", "");
  Action chosen;
  for (const auto add_command : commands) add_command(line.program(), chosen);
  try {
    (void)line.parse(static_cast<int>(arguments.size()), argv.data());
  } catch (const UsageError& error) {
    require(*error.what() != '\0', "an error has words");
  }
  set_max_pixels(std::numeric_limits<std::int64_t>::max());
  set_verbosity(Verbosity::normal);
}

const Registration registration("command_line", run);

}  // namespace
}  // namespace warpalign::fuzz
