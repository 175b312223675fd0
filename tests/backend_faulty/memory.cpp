// Queues and read-backs, each call of which can be made to fail.
#include "memory.hpp"

namespace warpalign::faulty {

void Queue::upload(const backend::HostRows& source, backend::Memory& target) {
  reach("upload");
  inner_->upload(source, inner_of(target));
}

void Queue::download(const backend::Memory& source, void* target, std::size_t bytes) {
  reach("download");
  inner_->download(inner_of(source), target, bytes);
}

void Queue::copy(const backend::Memory& source, backend::Memory& target, std::size_t bytes) {
  reach("copy");
  inner_->copy(inner_of(source), inner_of(target), bytes);
}

void Queue::finish() {
  reach("finish");
  inner_->finish();
}

void Queue::record(backend::Event& event) {
  reach("record an event");
  inner_->record(inner_of(event));
}

void Queue::wait_for(const backend::Event& event) {
  reach("make the queue wait");
  inner_->wait_for(inner_of(event));
}

std::unique_ptr<backend::Mark> Queue::mark() {
  reach("mark");
  return inner_->mark();
}

double Queue::milliseconds_between(const backend::Mark& from, const backend::Mark& to) {
  reach("time between marks");
  return inner_->milliseconds_between(from, to);
}

void Readback::enqueue(backend::Queue& queue, const backend::Memory& source, std::size_t bytes) {
  reach("enqueue a read-back");
  inner_->enqueue(inner_of(queue), inner_of(source), bytes);
}

const void* Readback::wait() {
  reach("wait for a read-back");
  return inner_->wait();
}

}  // namespace warpalign::faulty
