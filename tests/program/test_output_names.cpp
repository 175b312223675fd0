// The names that outputs may have: one rule for all commands.
#include "io/usage_error.hpp"
#include "options/file_names.hpp"
#include "program/run_program.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace warpalign::test {
namespace {

using namespace program;

TEST_CASE("output names: neither an input nor another output, in any spelling") {
  const ScratchFolder folder;
  const std::string input = folder / "in.tif";
  write_text(input, "x");
  std::filesystem::create_symlink(input, folder / "link.tif");
  const auto refused = [&](const std::vector<NamedOutput>& outputs, const std::string& words) {
    CHECK_THROWS_WITH_AS(check_outputs(outputs, {"-", input}), doctest::Contains(words.c_str()),
                         UsageError);
  };
  refused({{"--output", input}}, "--output " + input + ": is the same file as " + input);
  refused({{"--output", folder / "link.tif"}}, "is the same file as " + input);
  refused({{"--output", folder / "none/../in.tif"}}, "is the same file as " + input);
  const std::string output = folder / "out.tif";  // does not exist yet
  refused({{"--output", output}, {"--plot", {}}, {"--csv", folder / "./out.tif"}},
          "--csv " + (folder / "./out.tif") + ": is the same file as " + output);
  CHECK_NOTHROW(check_outputs({{"--output", output}, {"--csv", folder / "out.csv"}}, {"-", input}));
}

TEST_CASE("output names: - is standard output, where that is supported") {
  CHECK_NOTHROW(check_outputs({{"--output-video", "-", true}}, {"-"}));
  CHECK_NOTHROW(check_outputs({{"OUT", "./-"}}, {}));
  CHECK_THROWS_WITH_AS(check_outputs({{"--csv", "-"}}, {}),
                       doctest::Contains("--csv -: standard output"), UsageError);
}

TEST_CASE("output names: every command refuses before it opens a device") {
  const ScratchFolder folder;
  for (const std::string name : {"a.npy", "b.npy", "a.tif", "p.json"}) {
    write_text(folder / name, "x");
  }
  const auto refused = [&](const std::vector<std::string>& command, const std::string& words) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--device", "opencl:99"});
    const Outcome outcome = run_program(arguments);
    CAPTURE(command.front());
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(outcome.err.find(words) != std::string::npos);
  };
  const std::string a = folder / "a.npy";
  const std::string b = folder / "b.npy";
  const std::string image = folder / "a.tif";
  const std::string same = "is the same file as";
  refused({"prefilter", a, a}, same);
  refused({"resample", a, b, "--field", b}, same);
  refused({"register", image, b, "--output", image}, same);
  refused({"register", image, b, "--moving-mask", folder / "m.png", "--overlay", folder / "m.png"},
          same);
  refused({"register", image, b, "--motion", "local", "--field", b}, same);
  refused({"register-volume", a, b, "--output", b}, same);
  refused({"template", image, b, "--output", image}, same);
  refused({"template", image, b, "--output", "-"}, "--output -: standard output");
  refused({"stack", image, "--json", image}, same);
  refused({"stack", image, "--csv", "-"}, "--csv -: standard output");
  const Outcome bench = run_program({"bench", "--devices", "opencl:99", "--json", "-"});
  CHECK(bench.status == 2);
  CHECK(bench.err.find("--json -: standard output") != std::string::npos);
}

}  // namespace
}  // namespace warpalign::test
