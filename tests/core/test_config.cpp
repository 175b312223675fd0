// The configuration file: its keys, and the messages about mistakes in it.
#include "support/temporary_folder.hpp"

#include <warpalign/config.hpp>
#include <warpalign/error.hpp>

#include <doctest/doctest.h>
#include <cstdlib>

namespace {

void refuses(const test::TemporaryFolder& folder, const std::string& text, const char* message) {
  const auto file = folder.write("bad.toml", text);
  try {
    (void)warpalign::read_config(file);
    FAIL("accepted: " << text);
  } catch (const warpalign::Error& error) {
    CHECK(error.kind() == warpalign::ErrorKind::configuration);
    CHECK(std::string(error.what()).find("bad.toml:") != std::string::npos);
    CHECK_MESSAGE(std::string(error.what()).find(message) != std::string::npos, error.what());
  }
}

}  // namespace

TEST_CASE("config: every key is read") {
  const test::TemporaryFolder folder;
  const auto file = folder.write("good.toml",
                                 "device = \"cuda:1\"\nmodules = \"/m\"\ncache = \"/c\"\n"
                                 "[opencl]\nfft = \"clfft\"\n");
  const auto config = warpalign::read_config(file);
  CHECK(config.device == "cuda:1");
  CHECK(config.module_folder == "/m");
  CHECK(config.cache_folder == "/c");
  CHECK(config.opencl_fft == "clfft");
  CHECK(config.origin == file);
  CHECK(warpalign::read_config(folder.write("empty.toml", "")).opencl_fft == "auto");
}

TEST_CASE("config: mistakes are named with file and line") {
  const test::TemporaryFolder folder;
  refuses(folder, "devise = \"cuda:0\"\n", "unknown key 'devise'");
  refuses(folder, "\ndevice = 3\n", "bad.toml:2: 'device' must be a non-empty string");
  refuses(folder, "device = \"\"\n", "non-empty");
  refuses(folder, "[opencl]\nfft = \"fftw\"\n", "\"vkfft\" or \"clfft\"");
  refuses(folder, "[opencl]\nspeed = 1\n", "unknown key 'opencl.speed'");
  refuses(folder, "opencl = 1\n", "must be a table");
  refuses(folder, "device = \n", "bad.toml:");
  refuses(folder, "modules = \"here\"\n", "'modules' is \"here\", but must be an absolute path");
  refuses(folder, "cache = \".\"\n", "'cache' is \".\", but must be an absolute path");
}

TEST_CASE("config: backends are a list of names, in order of preference") {
  const test::TemporaryFolder folder;
  const auto file = folder.write("good.toml", "backends = [\"opencl\", \"my_backend2\"]\n");
  CHECK(warpalign::read_config(file).backends == std::vector<std::string>{"opencl", "my_backend2"});
  // Names become parts of the names of files that are loaded.
  for (const char* value : {"[]", "\"cuda\"", "[\"cuda\", \"\"]", "[\"CUDA\"]", "[\"../evil\"]",
                            "[\"cuda\", 3]", "3"}) {
    refuses(folder, std::string("backends = ") + value + "\n",
            "'backends' must be a list of names");
  }
}

TEST_CASE("config: non-ASCII characters are allowed in comments and double quotes only") {
  const test::TemporaryFolder folder;
  const char* words = "are allowed only in comments and, as UTF-8, in double quotes on one line";
  refuses(folder, "# \u00e9\nd\u00e9vice = \"cuda:0\"\n",
          "bad.toml:2: characters beyond ASCII are allowed");
  refuses(folder, "device = \"\"\"\na\"\"\"\n\u3042 = 1\n", "bad.toml:3: characters beyond ASCII");
  refuses(folder, "device = \"\"\"\\\u00a7\"\"\"\n", words);
  refuses(folder, "device = '\u00e9'\n", words);
  refuses(folder, "a = { \u00e9 = 1 }\n", words);
  refuses(folder, "device = \u00e9\n", words);
  refuses(folder, "device = \"\\\u00e9\"\n", words);
  refuses(folder, "\"d\u00e9vice\" = 1\n", "bad.toml:1: unknown key 'd\u00e9vice'");
}

TEST_CASE("config: invalid UTF-8 is refused in quotes, and ignored in comments") {
  const test::TemporaryFolder folder;
  // Truncated; a continuation byte alone; two overlong encodings; a surrogate; and two code points
  // beyond U+10FFFF.
  for (const char* bytes : {"\xc3", "\x80", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
                            "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80"}) {
    CAPTURE(bytes);
    refuses(folder, std::string("device = \"") + bytes + "\"\n", "as UTF-8, in double quotes");
    const auto file = folder.write("good.toml", std::string("device = 'a' # ") + bytes + "\n");
    CHECK(warpalign::read_config(file).device == "a");
  }
}

TEST_CASE("config: texts that fail assertions of toml++ 3.3 give an error") {
  const test::TemporaryFolder folder;
  // It asserts that a name follows [ and [[, and a value a comma (found by fuzz_configuration).
  for (const char* text : {"[[[opencl]]]", "[=]", "[.a]", "[#]", "[[[[[[[[]]]]]]]]devic]]",
                           "a = { b = [1, 2.5e3, }"}) {
    refuses(folder, text, "this is not TOML");
  }
}

TEST_CASE("config: quoted values keep their characters") {
  const test::TemporaryFolder folder;
  const auto read = [&](const std::string& text) {
    return warpalign::read_config(folder.write("good.toml", text)).device;
  };
  CHECK(read("\xef\xbb\xbf"
             "device = \"\u00e9\"  # \u00e9\n") == "\u00e9");
  CHECK(read("device = \"\\\\\u07ff\u0800\uffff\U00010000\U0010ffff\\\"\"\n") ==
        "\\\u07ff\u0800\uffff\U00010000\U0010ffff\"");
  CHECK(read("device = \"\"\"\n\\\"a\"\"\"\n") == "\"a");
  CHECK(read("device = \"\"\"a\"\"\"\"\"\ncache = \"/\u00e9\"\n") == "a\"\"");
}

TEST_CASE("config: a file that cannot be read is named") {
  const test::TemporaryFolder folder;
  CHECK_THROWS_WITH_AS((void)warpalign::read_config(folder.path() / "none.toml"),
                       doctest::Contains("none.toml cannot be read"), warpalign::Error);
  CHECK_THROWS_AS((void)warpalign::read_config(folder.path()), warpalign::Error);
  // Longer than any file system allows, so that it is unknown whether it is a folder.
  const std::string long_name(5000, 'a');
  CHECK_THROWS_WITH_AS((void)warpalign::read_config(folder.path() / long_name),
                       doctest::Contains("cannot be read"), warpalign::Error);
}

TEST_CASE("config: the default file is under XDG_CONFIG_HOME, never in the current folder") {
  const test::TemporaryFolder folder;
  const char* before = std::getenv("XDG_CONFIG_HOME");
  const std::string saved = before != nullptr ? before : "";
  ::setenv("XDG_CONFIG_HOME", folder.path().c_str(), 1);
  CHECK(warpalign::default_config().origin.empty());
  std::filesystem::create_directory(folder.path() / "warpalign");
  (void)folder.write("warpalign/warpalign.toml", "device = \"opencl:7\"\n");
  CHECK(warpalign::default_config().device == "opencl:7");
  if (before != nullptr) {
    ::setenv("XDG_CONFIG_HOME", saved.c_str(), 1);
  } else {
    ::unsetenv("XDG_CONFIG_HOME");
  }
}
