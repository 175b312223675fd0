// Lets every point of some work fail once, and repeats the work.
#include "faults/sweep.hpp"

#include <cstdlib>
#include <numeric>

namespace faults {

namespace {

std::string alive_text(const Alive& alive) {
  return std::to_string(alive.objects) + " objects with " + std::to_string(alive.bytes) + " bytes";
}

/// Does the work while point number `point` fails.
class Attempt {
 public:
  Attempt(std::size_t point, const Expectation& expectation)
      : point_(point), expectation_(expectation) {}

  /// Whether the work succeeded by another way, which may keep objects for later.
  [[nodiscard]] bool went_another_way() const { return another_way_; }

  void run(const Work& work, const Bytes& expected, Swept& swept) {
    std::string wrong = attempt(work, expected, swept);
    const char* what = failed();
    if (what == nullptr) return;  // the number of points may vary with threads
    ++swept.failed;
    if (!wrong.empty()) note(swept, wrong);
  }

  void note(Swept& swept, const std::string& wrong) const {
    const char* what = failed();
    swept.wrong.push_back("point " + std::to_string(point_) + " (" +
                          (what == nullptr ? "not reached" : what) + "): " + wrong);
  }

 private:
  std::string attempt(const Work& work, const Bytes& expected, Swept& swept) {
    fail_at(point_);
    try {
      const Bytes result = work();
      stop();
      if (failed() != nullptr) ++swept.absorbed;
      if (result == expected) return "";
      another_way_ = expectation_.is_as_good && expectation_.is_as_good(result, expected);
      return another_way_ ? "" : "nothing was thrown, and the result is wrong";
    } catch (const warpalign::Error& error) {
      stop();
      return expectation_.of_error(error, failed() == nullptr ? "" : failed());
    } catch (const std::exception& exception) {
      stop();
      if (expectation_.of_exception) return expectation_.of_exception(exception);
      return std::string("not an Error was thrown: ") + exception.what();
    }
  }

  std::size_t point_;
  const Expectation& expectation_;
  bool another_way_ = false;
};

/// Does the work without a failure. Returns what is wrong, or nothing.
std::string wrong_again(const Work& work, const Bytes& expected) {
  try {
    return work() == expected ? "" : "done again, the result is wrong";
  } catch (const std::exception& exception) {
    return std::string("done again, it throws: ") + exception.what();
  }
}

std::size_t count_of(const Work& work) {
  count_points();
  static_cast<void>(work());
  stop();
  return points();
}

/// Whether more memory is allocated after a failure. Objects without memory are counted after the
/// work was repeated: interrupted objects may hold an event until they are used again, and the
/// device keeps its last few FFT plans, which may be others after a part of the work.
bool is_too_much(const Alive& now, const Alive& before) { return now.bytes > before.bytes; }

/// Whether more objects exist at the end than before. An object without memory may be missing: a
/// plan orders queues by an event only from the second queue on, and the plan that replaces one
/// lost in the failure has seen fewer queues.
bool is_left_over(const Alive& now, const Alive& before) {
  return now.bytes != before.bytes || now.objects > before.objects;
}

Swept sweep(const Work& work, const Expectation& expectation) {
  const Bytes expected = work();
  Swept swept;
  swept.points = count_of(work);
  Alive before = alive();  // drivers keep objects in the second run, too
  for (const std::size_t point : points_to_fail(swept.points)) {
    Attempt attempt(point, expectation);
    attempt.run(work, expected, swept);
    if (attempt.went_another_way()) before = alive();
    if (is_too_much(alive(), before)) {
      attempt.note(swept, alive_text(alive()) + " are alive after it, not " + alive_text(before));
    }
    const std::string wrong = wrong_again(work, expected);
    if (!wrong.empty()) attempt.note(swept, wrong);
    // An FFT plan that the device kept from the interrupted work has seen a second queue now, and
    // holds an event until it is replaced by another size. Repeating the work removes it; a leak
    // stays.
    if (is_left_over(alive(), before)) static_cast<void>(wrong_again(work, expected));
    if (is_left_over(alive(), before)) {
      attempt.note(swept, alive_text(alive()) + " are alive in the end, not " + alive_text(before));
    }
    if (swept.wrong.size() >= 5) break;
  }
  return swept;
}

}  // namespace

std::string Swept::summary(const std::string& name) const {
  std::string text = name + ": " + std::to_string(points) + " points, " + std::to_string(failed) +
                     " failed, " + std::to_string(absorbed) + " of them absorbed";
  for (const std::string& one : wrong) text += "\n    " + one;
  return text;
}

Swept sweep_anew(const Scenario& scenario, const warpalign::Device& device,
                 const Expectation& expectation) {
  return sweep([&] { return scenario.make(device)(); }, expectation);
}

Swept sweep_kept(const Scenario& scenario, const warpalign::Device& device,
                 const Expectation& expectation) {
  const Work work = scenario.make(device);
  static_cast<void>(work());  // creates everything that the first use creates
  return sweep(work, expectation);
}

std::vector<std::size_t> points_to_fail(std::size_t points, std::size_t usual) {
  const char* text = std::getenv("WARPALIGN_FAULT_LIMIT");
  const std::size_t limit = text == nullptr ? usual : std::strtoul(text, nullptr, 10);
  std::vector<std::size_t> chosen(limit == 0 || points < limit ? points : limit);
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  for (std::size_t& point : chosen) point = point * points / chosen.size();
  return chosen;
}

}  // namespace faults
