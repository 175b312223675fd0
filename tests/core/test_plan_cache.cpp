// The cache of plans: what it keeps and removes, and that plans in use never move.
#include "registration/resources/plan_cache.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <vector>

using warpalign::detail::PlanCache;

namespace {

using Cache = PlanCache<int, std::unique_ptr<int>>;

/// Requests keys, and records which of them the cache had to create.
struct Asker {
  explicit Asker(std::size_t most) : cache(most) {}

  std::unique_ptr<int>& get(int key) {
    return cache.get(key, [&] {
      made.push_back(key);
      return std::make_unique<int>(10 * key);
    });
  }

  Cache cache;
  std::vector<int> made;
};

}  // namespace

TEST_CASE("plan cache: a value is created once for each key") {
  Asker asker(4);
  for (const int key : {1, 2, 1, 2, 2}) CHECK(*asker.get(key) == 10 * key);
  CHECK(asker.made == std::vector{1, 2});
}

TEST_CASE("plan cache: the least recently used value is removed if there is no room") {
  Asker asker(3);
  for (const int key : {1, 2, 3}) asker.get(key);
  asker.get(1);
  asker.get(4);
  CHECK(asker.cache.size() == 3);
  asker.made.clear();
  for (const int key : {1, 3, 4}) asker.get(key);
  CHECK(asker.made.empty());
  asker.get(2);
  CHECK(asker.made == std::vector{2});
}

TEST_CASE("plan cache: a value stays while fewer other keys than the bound are used") {
  Asker asker(3);
  const std::unique_ptr<int>* const first = &asker.get(1);
  for (const int key : {2, 3, 1, 4, 5}) asker.get(key);
  CHECK(&asker.get(1) == first);
  CHECK(**first == 10);
  CHECK(asker.made == std::vector{1, 2, 3, 4, 5});
}

TEST_CASE("plan cache: the old value is removed before the new one is created") {
  std::weak_ptr<int> old;
  PlanCache<int, std::shared_ptr<int>> cache(1);
  old = cache.get(1, [] { return std::make_shared<int>(1); });
  CHECK(!old.expired());
  cache.get(2, [&] {
    CHECK(old.expired());
    return std::make_shared<int>(2);
  });
}

TEST_CASE("plan cache: a failed creation leaves nothing behind") {
  Asker asker(2);
  const auto fail = []() -> std::unique_ptr<int> { throw std::runtime_error("no memory"); };
  CHECK_THROWS_AS(asker.cache.get(1, fail), std::runtime_error);
  CHECK(asker.cache.size() == 0);
  CHECK(*asker.get(1) == 10);
}

TEST_CASE("plan cache: values in use exceed its bound, and make room afterwards") {
  struct View {
    bool used = true;
  };
  PlanCache<int, View> cache(2);
  const auto get = [&](int key) -> View& {
    return cache.get(
        key, [] { return View{}; }, [](const View& view) { return !view.used; });
  };
  View* const first = &get(1);
  for (const int key : {2, 3, 4}) get(key);
  CHECK(cache.size() == 4);
  CHECK(&get(1) == first);
  cache.for_each([](View& view) { view.used = false; });
  get(3).used = true;
  get(5);
  CHECK(cache.size() == 2);
  CHECK(get(3).used);
}
