// What the program does about kernels being compiled: it says so, and has others help.
#pragma once

#include <functional>

namespace warpalign::program {

/// While it lives, one line on stderr says how far the compilation has come; nothing where stderr
/// is no terminal, or the program is to be quiet. There is one in the program.
class CompilationWatch {
 public:
  CompilationWatch();
  CompilationWatch(const CompilationWatch&) = delete;
  CompilationWatch& operator=(const CompilationWatch&) = delete;
  ~CompilationWatch();

  /// `start` is called, at most once, when many programs are to be compiled by a driver that
  /// compiles one at a time. An empty function: nothing is.
  static void when_slow(std::function<void()> start);
};

}  // namespace warpalign::program
