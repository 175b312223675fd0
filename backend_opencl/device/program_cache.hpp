// Compiled programs of one device: in memory, and as binaries in the host's cache on disk.
//
// A plan compiles the programs that it needs. Code that is going to need many programs announces
// them. If the platform's compiler benefits, threads then compile them in advance, in the order in
// which they are needed. Whoever needs a program that is being compiled waits for it.
#pragma once

#include "device/handles.hpp"
#include "device/program_build.hpp"
#include "device/worker_threads.hpp"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace warpalign::opencl {

class Context;

class ProgramCache {
 public:
  explicit ProgramCache(const Context& context);
  ProgramCache(const ProgramCache&) = delete;
  ProgramCache& operator=(const ProgramCache&) = delete;
  /// Drops the programs whose compilation has not begun, and waits for the others.
  ~ProgramCache();

  /// Returns the built program for this source and these options. `stage` is for messages: a failed
  /// build throws Error(build_failed) with the numbered source, the options and the log. Returns a
  /// null program on a thread within announce().
  [[nodiscard]] Handle<cl_program> get(std::string_view source, const std::string& options,
                                       const std::string& stage);

  /// Runs `make_plans` on this thread and precompiles the programs that it requests. Meanwhile
  /// get() on this thread only records the request and returns a null program. A later get()
  /// reports any compilation error.
  void announce(const std::function<void()>& make_plans);
  /// Stores the binaries of all programs in the host's cache, unless they were stored at once.
  void keep();
  /// Whether this thread is within announce().
  [[nodiscard]] bool announcing() const noexcept;

  /// The options with which every kernel of this backend is built.
  [[nodiscard]] const std::string& common_options() const noexcept { return common_options_; }

 private:
  enum class State { waiting, building, built };
  struct Entry {
    std::string source, options, stage, key;
    State state = State::waiting;
    std::optional<std::string> cached;  ///< the content of the host's cache, once it was looked up
    bool looked_up = false;
    bool from_binary = false;
    bool counted = false;  ///< whether it counts as one of the programs to compile
    Handle<cl_program> program;
  };
  using Lock = std::unique_lock<std::mutex>;

  std::shared_ptr<Entry> entry_of(std::string_view source, const std::string& options,
                                  const std::string& stage);
  void build_waiting(const std::shared_ptr<Entry>& entry, Lock& lock);
  void look_up(Entry& entry);
  [[nodiscard]] Handle<cl_program> build(Entry& entry) const;
  [[nodiscard]] Handle<cl_program> build_from_source(const Entry& entry) const;
  void precompile(std::vector<std::shared_ptr<Entry>> entries);
  void run_worker();
  void report() const;

  const Context& context_;
  Compiler compiler_;
  std::string common_options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_map<std::string, std::shared_ptr<Entry>> entries_;
  std::deque<std::shared_ptr<Entry>> queue_;
  WorkerThreads workers_;
  std::size_t busy_workers_ = 0;
  std::size_t compiled_ = 0, to_compile_ = 0;
};

}  // namespace warpalign::opencl
