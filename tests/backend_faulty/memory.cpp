// Queues and read-backs, each call of which can be made to fail.
#include "memory.hpp"

namespace warpalign::faulty {

namespace {

void queue_point(const char* what) { point(what, "queue", ErrorKind::device_failure); }
void readback_point(const char* what) { point(what, "readback", ErrorKind::device_failure); }

}  // namespace

void Queue::upload(const backend::HostRows& source, backend::Memory& target) {
  queue_point("upload");
  inner_->upload(source, inner_of(target));
}

void Queue::download(const backend::Memory& source, void* target, std::size_t bytes) {
  queue_point("download");
  inner_->download(inner_of(source), target, bytes);
}

void Queue::copy(const backend::Memory& source, backend::Memory& target, std::size_t bytes) {
  queue_point("copy");
  inner_->copy(inner_of(source), inner_of(target), bytes);
}

void Queue::finish() {
  queue_point("finish");
  inner_->finish();
}

void Queue::record(backend::Event& event) {
  queue_point("record an event");
  inner_->record(inner_of(event));
}

void Queue::wait_for(const backend::Event& event) {
  queue_point("make the queue wait");
  inner_->wait_for(inner_of(event));
}

std::unique_ptr<backend::Mark> Queue::mark() {
  queue_point("mark");
  return inner_->mark();
}

double Queue::milliseconds_between(const backend::Mark& from, const backend::Mark& to) {
  queue_point("time between marks");
  return inner_->milliseconds_between(from, to);
}

void Readback::enqueue(backend::Queue& queue, const backend::Memory& source) {
  readback_point("enqueue a read-back");
  inner_->enqueue(inner_of(queue), inner_of(source));
}

const void* Readback::wait() {
  readback_point("wait for a read-back");
  return inner_->wait();
}

}  // namespace warpalign::faulty
