// The processor and the date of a record.
#pragma once

#include <string>

namespace warpalign::program::bench {

/// The processor's name, if the system gives it, and the number of threads.
[[nodiscard]] std::string describe_host();
/// The current time in UTC: "2026-11-22T14:05:09Z".
[[nodiscard]] std::string now_utc();

}  // namespace warpalign::program::bench
