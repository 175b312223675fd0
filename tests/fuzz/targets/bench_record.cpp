// The JSON records that `warpalign bench --baseline` reads.
#include "bench/record.hpp"
#include "io/usage_error.hpp"
#include "scratch_file.hpp"

namespace warpalign::fuzz {
namespace {

using namespace program;

void run(Input input) {
  try {
    const bench::Record record = bench::read_record("--baseline", as_file(input));
    const std::string text = bench::record_text(record);
    const bench::Record again = bench::read_record(
        "--baseline",
        as_file({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "again"));
    require(bench::record_text(again) == text, "a record comes back as it was written");
  } catch (const UsageError&) {
  }
}

const Registration registration("bench_record", run);

}  // namespace
}  // namespace warpalign::fuzz
