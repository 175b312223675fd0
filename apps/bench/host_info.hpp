// Where and when a record was made.
#pragma once

#include <string>

namespace warpalign::program::bench {

/// The processor's name where the system tells it, and the number of threads.
[[nodiscard]] std::string describe_host();
/// Now, in UTC: "2026-11-22T14:05:09Z".
[[nodiscard]] std::string now_utc();

}  // namespace warpalign::program::bench
