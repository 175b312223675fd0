// Kernel parameters that are too many for arguments.
#include "device/parameter_upload.hpp"

#include "device/errors.hpp"
#include "device/memory.hpp"

#include <warpalign/backend/fork.hpp>

namespace warpalign::opencl {

ParameterUpload::ParameterUpload(const Context& context, std::size_t bytes, const char* stage)
    : stage_(stage), site_(context.call_site(stage)), buffer_(make_buffer(context, bytes, stage)) {
  for (auto& slot : slots_) slot = std::make_unique<PinnedMemory>(context, bytes, site_);
}

ParameterUpload::~ParameterUpload() {
  if (backend::is_forked()) return;
  for (const Handle<cl_event>& copied : copied_) {
    const cl_event event = copied.get();
    if (event != nullptr) clWaitForEvents(1, &event);
  }
}

void ParameterUpload::begin() {
  current_ = 1 - current_;
  const cl_event event = copied_[current_].get();
  if (event != nullptr) check(clWaitForEvents(1, &event), "clWaitForEvents", site_);
  copied_[current_] = Handle<cl_event>();
}

cl_mem ParameterUpload::enqueue(cl_command_queue queue, std::size_t bytes) {
  scratch_guard_.enter(queue, stage_);
  cl_event event = nullptr;
  check(clEnqueueWriteBuffer(queue, buffer_.get(), CL_FALSE, 0, bytes, slots_[current_]->data(), 0,
                             nullptr, &event),
        "clEnqueueWriteBuffer", site_);
  copied_[current_] = adopt(event);
  return buffer_.get();
}

}  // namespace warpalign::opencl
