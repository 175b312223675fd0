// What `warpalign stack` writes.
#include "commands/stack_outputs.hpp"

#include "io/frames/folder_sink.hpp"
#include "io/frames/npy_sink.hpp"
#include "io/frames/tiff_sink.hpp"
#include "io/frames/video_sink.hpp"
#include "io/messages.hpp"
#include "io/npy.hpp"

#include <fmt/format.h>

#include <span>

namespace warpalign::program {
namespace {

void append(std::optional<AtomicFile>& file, const std::string& text) {
  if (file) file->write(std::as_bytes(std::span(text)));
}

std::optional<std::size_t> exact(const FrameCount& count) {
  if (!count.exact) return {};
  return count.frames;
}

}  // namespace

StackOutputs::StackOutputs(const StackOptions& options, const StackInput& input)
    : options_(options), text_(options.video == "-" ? stderr : stdout) {
  open_sinks(options, input);
  if (options.csv) csv_.emplace(*options.csv);
  if (options.json) json_.emplace(*options.json);
  if (options.plot) plot_.emplace(*options.plot);
}

void StackOutputs::open_sinks(const StackOptions& options, const StackInput& input) {
  const LoadedImage& first = input.first().image;
  const FrameCount count = input.count();
  if (options.video) check_video_frames(first);
  if (options.folder) {
    sinks_.push_back(std::make_unique<FolderSink>(*options.folder, count.frames, first.type));
  }
  if (options.output && is_npy_name(*options.output)) {
    sinks_.push_back(std::make_unique<NpySink>(*options.output, first, std::nullopt));
  } else if (options.output) {
    sinks_.push_back(
        std::make_unique<TiffSink>(*options.output, first, exact(count), std::nullopt));
  }
  if (options.video) {
    sinks_.push_back(
        std::make_unique<VideoSink>(*options.video, first, input.video(), std::nullopt));
  }
}

std::string StackOutputs::write_aligned(std::size_t index, const std::string& stem,
                                        const LoadedImage* aligned) {
  for (const auto& sink : sinks_) sink->write(index, stem, aligned);
  return aligned == nullptr || sinks_.empty() ? "" : sinks_.front()->name_of(index, stem);
}

void StackOutputs::start(const StackSetting& setting) {
  setting_ = setting;
  append(csv_, csv_header());
  append(json_, json_start(setting));
  program::report(text_header(), text_);
}

void StackOutputs::report(const StackFrame& frame) {
  append(csv_, csv_line(frame, setting_.fast));
  append(json_, json_line(frame, setting_.fast, is_first_));
  if (plot_) drift_.add(frame);
  program::report(text_line(frame), text_);
  is_first_ = false;
}

void StackOutputs::finish(StackTotals& totals) {
  append(json_, json_end(totals));
  if (plot_) append(plot_, drift_.draw());
  for (const auto& sink : sinks_) sink->commit();
  for (std::optional<AtomicFile>* file : {&csv_, &json_, &plot_}) {
    if (*file) (*file)->commit();
  }
  totals.files = names();
}

std::vector<std::string> StackOutputs::names() const {
  std::vector<std::string> names;
  for (const auto& sink : sinks_)
    names.push_back(sink->name() == "-" ? "standard output" : sink->name());
  for (const auto* name : {&options_.csv, &options_.json, &options_.plot}) {
    if (*name) names.push_back(**name);
  }
  return names;
}

}  // namespace warpalign::program
