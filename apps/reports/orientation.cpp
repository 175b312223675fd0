// The orientation of images in JSON.
#include "reports/orientation.hpp"

namespace warpalign::program {

void add_orientation(Json& object, int reference, int moving) {
  if (reference == 1 && moving == 1) return;
  object["orientation"] = Json::object({{"reference", reference}, {"moving", moving}});
}

}  // namespace warpalign::program
