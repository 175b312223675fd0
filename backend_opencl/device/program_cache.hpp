// Compiled programs of one device, in memory and, as binaries, in the host's cache on disk.
//
// Programs are compiled when a plan needs them. Work that is going to need many announces them:
// where the platform's compiler gains by it, threads then compile them ahead, in the order of
// their need, and whoever needs one that is being compiled waits for it.
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
  /// Waits for the programs that are being compiled; those that are not yet begun are dropped.
  ~ProgramCache();

  /// The program of this source and these options, built. `stage` is for messages: a failed
  /// build throws Error(build_failed) with the numbered source, the options and the log. A null
  /// program on a thread that only announces.
  [[nodiscard]] Handle<cl_program> get(std::string_view source, const std::string& options,
                                       const std::string& stage);

  /// Runs `make_plans` on this thread, in which get() only takes note of what is asked for and
  /// returns null programs, and has the programs compiled ahead. What fails to compile is reported
  /// to whoever gets it.
  void announce(const std::function<void()>& make_plans);
  /// Keeps the binaries of all programs in the host's cache, where they are not asked for at once.
  void keep();
  /// Whether this thread is within announce().
  [[nodiscard]] bool announcing() const noexcept;

  /// Options that every kernel of ours is built with.
  [[nodiscard]] const std::string& common_options() const noexcept { return common_options_; }

 private:
  enum class State { waiting, building, built };
  struct Entry {
    std::string source, options, stage, key;
    State state = State::waiting;
    std::optional<std::string> kept;  ///< what the host's cache has, once it was looked up
    bool looked_up = false;
    bool from_binary = false;
    bool counted = false;  ///< among those to be compiled
    Handle<cl_program> program;
  };
  using Lock = std::unique_lock<std::mutex>;

  std::shared_ptr<Entry> entry_of(std::string_view source, const std::string& options,
                                  const std::string& stage);
  void build_waiting(const std::shared_ptr<Entry>& entry, Lock& lock);
  void look_up(Entry& entry);
  [[nodiscard]] Handle<cl_program> build(Entry& entry) const;
  void compile_ahead(std::vector<std::shared_ptr<Entry>> entries);
  void work();
  void report() const;

  const Context& context_;
  Compiler compiler_;
  std::string common_options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_map<std::string, std::shared_ptr<Entry>> entries_;
  std::deque<std::shared_ptr<Entry>> ahead_;
  WorkerThreads workers_;
  std::size_t busy_workers_ = 0;
  std::size_t compiled_ = 0, to_compile_ = 0;
};

}  // namespace warpalign::opencl
