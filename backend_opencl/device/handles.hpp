// Boost.Compute's owning handles, and none of its algorithms. They take seconds to compile, so
// include this header only from .cpp files and from headers that only .cpp files include.
#pragma once

#include <boost/compute/buffer.hpp>
#include <boost/compute/command_queue.hpp>
#include <boost/compute/context.hpp>
#include <boost/compute/event.hpp>
#include <boost/compute/image/image_object.hpp>
#include <boost/compute/image/image_sampler.hpp>
#include <boost/compute/kernel.hpp>
#include <boost/compute/program.hpp>

namespace warpalign::opencl {
namespace compute = boost::compute;
}
