// Reports the compilation of kernels, and starts helper processes if it is slow.
#pragma once

#include <functional>

namespace warpalign::program {

/// Shows the progress of kernel compilation in one line on stderr while it exists, unless stderr is
/// not a terminal or messages are off. The program has a single instance.
class CompilationWatch {
 public:
  CompilationWatch();
  CompilationWatch(const CompilationWatch&) = delete;
  CompilationWatch& operator=(const CompilationWatch&) = delete;
  ~CompilationWatch();

  /// Sets a function to call once, when a driver that compiles one program at a time has many
  /// programs to compile. An empty function removes it.
  static void set_slow_compilation_handler(std::function<void()> start);
};

}  // namespace warpalign::program
