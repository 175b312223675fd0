// Keeps the list of programs, and compiles them when needed or in advance.
#include "device/program_cache.hpp"

#include "device/context.hpp"
#include "device/device_list.hpp"

#include <warpalign/backend/fork.hpp>

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

namespace warpalign::opencl {

namespace {

/// The programs that a thread within announce() has requested.
struct Announcement {
  const ProgramCache* cache = nullptr;
  struct Program {
    std::string source, options, stage;
  };
  std::vector<Program> programs;
};
thread_local Announcement* announcement = nullptr;

/// Installs an announcement for a scope.
class AnnouncementScope {
 public:
  explicit AnnouncementScope(Announcement& mine) : outer_(std::exchange(announcement, &mine)) {}
  AnnouncementScope(const AnnouncementScope&) = delete;
  AnnouncementScope& operator=(const AnnouncementScope&) = delete;
  ~AnnouncementScope() { announcement = outer_; }

 private:
  Announcement* outer_;
};

/// Locks the compiler while a program is built, if only one thread of the process may build.
std::unique_lock<std::mutex> lock_compiler(const Compiler& compiler) {
  static std::mutex mutex;
  return compiler.exclusive ? std::unique_lock(mutex) : std::unique_lock<std::mutex>();
}

/// Stored instead of a binary if the platform itself caches what it compiled.
constexpr const char* cached_by_platform = "kept by the platform";

}  // namespace

ProgramCache::ProgramCache(const Context& context)
    : context_(context),
      compiler_(compiler_of(context.info().platform)),
      common_options_("-w -cl-std=CL1.2") {
  // Without this option, GPUs may be 3 ulp off in sqrt and 2.5 ulp in division.
  const auto config = device_value<cl_device_fp_config>(context.id(), CL_DEVICE_SINGLE_FP_CONFIG);
  if ((config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0) {
    common_options_ += " -cl-fp32-correctly-rounded-divide-sqrt";
  }
}

ProgramCache::~ProgramCache() {
  if (backend::is_forked()) {
    workers_.detach();  // they do not exist in this process
    return;
  }
  {
    const Lock lock(mutex_);
    queue_.clear();
    if (compiled_ < to_compile_) {
      compiled_ = to_compile_;
      report();
    }
  }
  workers_.join();
}

Handle<cl_program> ProgramCache::get(std::string_view source, const std::string& options,
                                     const std::string& stage) {
  if (announcing()) {
    announcement->programs.push_back({std::string(source), options, stage});
    return {};
  }
  Lock lock(mutex_);
  const std::shared_ptr<Entry> entry = entry_of(source, options, stage);
  while (entry->state != State::built) {
    if (entry->state == State::building) {
      changed_.wait(lock);
    } else {
      build_waiting(entry, lock);
    }
  }
  return entry->program;
}

bool ProgramCache::announcing() const noexcept {
  return announcement != nullptr && announcement->cache == this;
}

void ProgramCache::announce(const std::function<void()>& make_plans) {
  Announcement mine{this, {}};
  {
    const AnnouncementScope scope(mine);
    make_plans();
  }
  Lock lock(mutex_);
  std::vector<std::shared_ptr<Entry>> entries;
  for (const Announcement::Program& program : mine.programs) {
    auto entry = entry_of(program.source, program.options, program.stage);
    if (entry->state != State::waiting || entry->looked_up) continue;
    look_up(*entry);
    entries.push_back(std::move(entry));
  }
  if (compiled_ < to_compile_) report();
  precompile(std::move(entries));
}

void ProgramCache::keep() {
  if (!compiler_.caches_programs) return;
  std::vector<std::shared_ptr<Entry>> built;
  {
    const Lock lock(mutex_);
    for (const auto& [key, entry] : entries_) {
      if (entry->state == State::built && !entry->from_binary) built.push_back(entry);
    }
  }
  for (std::size_t i = 0; i < built.size(); ++i) {
    context_.host().compiling({i, built.size(), compiler_.one_at_a_time});
    const std::string binary = binary_of(built[i]->program.get());
    if (!binary.empty()) context_.host().store_cached(built[i]->key, binary);
  }
  if (!built.empty())
    context_.host().compiling({built.size(), built.size(), compiler_.one_at_a_time});
}

std::shared_ptr<ProgramCache::Entry> ProgramCache::entry_of(std::string_view source,
                                                            const std::string& options,
                                                            const std::string& stage) {
  std::string key = "opencl program\n" + context_.identity() + "options " + options + "\nsource\n";
  key += source;
  const auto found = entries_.find(key);
  if (found != entries_.end()) return found->second;
  auto entry = std::make_shared<Entry>();
  entry->source = source;
  entry->options = options;
  entry->stage = stage;
  entry->key = key;
  return entries_.emplace(std::move(key), std::move(entry)).first->second;
}

/// Builds a program that no other thread builds, with the lock released meanwhile. Once the state
/// says `building`, other threads wait, so nothing that may throw comes between that change and the
/// end.
void ProgramCache::build_waiting(const std::shared_ptr<Entry>& entry, Lock& lock) {
  if (!entry->looked_up) look_up(*entry);
  if (entry->counted) report();
  entry->state = State::building;
  lock.unlock();
  Handle<cl_program> program;
  std::exception_ptr failure;
  try {
    program = build(*entry);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  entry->state = failure ? State::waiting : State::built;
  entry->program = std::move(program);
  entry->cached.reset();
  changed_.notify_all();
  if (std::exchange(entry->counted, false)) {
    ++compiled_;
    report();
  }
  if (failure) std::rethrow_exception(failure);
}

void ProgramCache::look_up(Entry& entry) {
  entry.cached = context_.host().load_cached(entry.key);
  entry.looked_up = true;
  entry.counted = !entry.cached;
  if (!entry.counted) return;
  if (compiled_ == to_compile_) compiled_ = to_compile_ = 0;
  ++to_compile_;
}

Handle<cl_program> ProgramCache::build_from_source(const Entry& entry) const {
  if (compiler_.reads_declarations && context_.is_cpu()) {
    if (auto program = program_with_declarations(context_, entry.source, entry.options,
                                                 context_.call_site(entry.stage))) {
      return *program;
    }
  }
  return program_from_source(context_, entry.source, entry.options,
                             context_.call_site(entry.stage));
}

Handle<cl_program> ProgramCache::build(Entry& entry) const {
  const auto compiler_lock = lock_compiler(compiler_);
  // Another process may have compiled it in the meantime.
  if (!entry.cached && compiler_.one_at_a_time)
    entry.cached = context_.host().load_cached(entry.key);
  if (entry.cached && *entry.cached != cached_by_platform) {
    if (auto program = program_from_binary(context_, *entry.cached, entry.options)) {
      entry.from_binary = true;
      return *program;
    }
  }
  Handle<cl_program> program = build_from_source(entry);
  if (!compiler_.caches_programs) {
    const std::string binary = binary_of(program.get());
    if (!binary.empty()) context_.host().store_cached(entry.key, binary);
  } else if (!entry.cached) {
    context_.host().store_cached(entry.key, cached_by_platform);
  }
  return program;
}

void ProgramCache::precompile(std::vector<std::shared_ptr<Entry>> entries) {
  if (compiler_.threads == 0) return;
  queue_.insert(queue_.end(), entries.begin(), entries.end());
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t wanted = std::min({compiler_.threads, cores, queue_.size()});
  try {
    while (busy_workers_ < wanted) {
      workers_.start([this] { run_worker(); });
      ++busy_workers_;  // the new thread waits for the lock
    }
  } catch (const std::system_error&) {
    // Too many threads: whoever needs a program compiles it.
  }
}

/// The loop of a worker thread, which ends when no program is left to precompile.
void ProgramCache::run_worker() {
  Lock lock(mutex_);
  while (!queue_.empty()) {
    const std::shared_ptr<Entry> entry = std::move(queue_.front());
    queue_.pop_front();
    if (entry->state != State::waiting) continue;
    try {
      build_waiting(entry, lock);
    } catch (...) {
      // Whoever gets the program builds it again, and receives the error.
    }
  }
  --busy_workers_;
}

void ProgramCache::report() const {
  context_.host().compiling({compiled_, to_compile_, compiler_.one_at_a_time});
}

}  // namespace warpalign::opencl
