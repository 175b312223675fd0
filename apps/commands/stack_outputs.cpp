// Writes the outputs of `warpalign stack`.
#include "commands/stack_outputs.hpp"

#include "io/frames/folder_sink.hpp"
#include "io/frames/npy_sink.hpp"
#include "io/frames/recording_text.hpp"
#include "io/frames/tiff_sink.hpp"
#include "io/frames/video_sink.hpp"
#include "io/messages.hpp"
#include "io/npy.hpp"
#include "io/status_line.hpp"
#include "io/usage_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <span>
#include <utility>

namespace warpalign::program {
namespace {

void append(std::optional<AtomicFile>& file, const std::string& text) {
  if (file) file->write(std::as_bytes(std::span(text)));
}

std::optional<std::size_t> exact(const FrameCount& count) {
  if (!count.exact) return {};
  return count.frames;
}

/// What a sink writes of a frame.
std::span<const LoadedImage> part_for(const FrameSink& sink, const AlignedFrame* aligned) {
  if (aligned == nullptr) return {};
  if (!sink.takes_registered() || !aligned->registered) return aligned->planes;
  return std::span(&*aligned->registered, 1);
}

}  // namespace

StackOutputs::StackOutputs(const StackOptions& options, const StackInput& input,
                           std::optional<std::size_t> done)
    : options_(options) {
  open_sinks(input, done);
  if (!options.shard) open_reports(done.has_value());
}

void StackOutputs::open_sinks(const StackInput& input, std::optional<std::size_t> done) {
  const LoadedImage& registered = input.first().image;
  const LoadedImage& plane = input.first().all_planes().front();
  const RecordingFormat format = input.recording();
  const FrameCount count = input.count();
  const auto add = [&](auto sink) { sinks_.push_back(std::move(sink)); };
  if (options_.video) check_video_frames(registered);
  if (options_.folder) {
    add(std::make_unique<FolderSink>(*options_.folder, count.frames, plane.type,
                                     done ? Unfinished::kept : Unfinished::removed, format));
  }
  if (options_.shard) return;
  if (options_.field) {
    LoadedImage unknown = make_image(registered.width, registered.height, 1, PixelType::f32);
    std::ranges::fill(unknown.samples<float>(), std::numeric_limits<float>::quiet_NaN());
    RecordingFormat fields;
    fields.channels = 2;
    field_ = std::make_unique<NpySink>(*options_.field, unknown, done, fields);
    no_field_.assign(2, unknown);
  }
  if (options_.output && is_npy_name(*options_.output)) {
    add(std::make_unique<NpySink>(*options_.output, plane, done, format, exact(count)));
  } else if (options_.output) {
    if (format.planes() > 1 &&
        with_description(format, plane).metadata == RecordingFormat::Metadata::none) {
      throw UsageError(fmt::format(
          "--output {}: TIFF has no description of the axes for {} pixels of several planes; use a "
          "name that ends in .npy",
          *options_.output, name_of(plane.type)));
    }
    add(std::make_unique<TiffSink>(*options_.output, plane, exact(count), done, format));
  }
  if (options_.video) {
    add(std::make_unique<VideoSink>(*options_.video, registered, input.video(), done));
  }
}

bool StackOutputs::takes(bool registered) const {
  return std::any_of(sinks_.begin(), sinks_.end(),
                     [&](const auto& sink) { return sink->takes_registered() == registered; });
}

/// Opens the reports. They are always written again from the journal, replacing the remains of a
/// killed run.
void StackOutputs::open_reports(bool resumable) {
  const auto open = [&](const std::optional<std::string>& name, std::optional<AtomicFile>& file) {
    if (!name) return;
    file.emplace(*name, resumable ? Unfinished::kept : Unfinished::removed);
    file->truncate(0);
  };
  open(options_.csv, csv_);
  open(options_.json, json_);
  open(options_.plot, plot_);
  open(options_.page, page_file_);
}

/// Frames that could not be aligned have no displacements: NaN.
void StackOutputs::write_field(std::size_t index, const std::string& stem,
                               const AlignedFrame* aligned) {
  if (field_) field_->write(index, stem, aligned == nullptr ? no_field_ : aligned->field);
}

bool StackOutputs::lack(const StackFrame& done) const {
  if (field_ && field_->lacks(done.index, done.stem)) return true;
  return std::any_of(sinks_.begin(), sinks_.end(),
                     [&](const auto& sink) { return sink->lacks(done.index, done.stem); });
}

void StackOutputs::write_lacking(const StackFrame& done, const AlignedFrame* aligned) {
  for (const auto& sink : sinks_) {
    if (!sink->lacks(done.index, done.stem)) continue;
    sink->write(done.index, done.stem, part_for(*sink, aligned));
  }
  if (field_ && field_->lacks(done.index, done.stem)) write_field(done.index, done.stem, aligned);
}

void StackOutputs::sync() {
  for (const auto& sink : sinks_) sink->sync();
  if (field_) field_->sync();
}

std::string StackOutputs::write_aligned(std::size_t index, const std::string& stem,
                                        const AlignedFrame* aligned) {
  for (const auto& sink : sinks_) sink->write(index, stem, part_for(*sink, aligned));
  write_field(index, stem, aligned);
  return aligned == nullptr || sinks_.empty() ? "" : sinks_.front()->name_of(index, stem);
}

void StackOutputs::start(const StackSetting& setting) {
  setting_ = setting;
  append(csv_, csv_header(setting));
  append(json_, json_start(setting));
  say(text_header(setting));
}

void StackOutputs::report(const StackFrame& frame) {
  append(csv_, csv_line(frame, setting_));
  append(json_, json_line(frame, setting_, is_first_));
  drift_.add(frame);
  page_.add(frame);
  say(text_line(frame, setting_));
  is_first_ = false;
}

/// If the video goes to standard output, messages go to standard error.
void StackOutputs::say(const std::string& text) const {
  if (options_.video != "-") return program::report(text);
  if (verbosity() == Verbosity::quiet) return;
  clear_status();
  fmt::print(stderr, "{}", text);
}

void StackOutputs::finish(StackTotals& totals, const MeanPictures* means,
                          const FrameMotion* widest) {
  append(json_, json_end(totals, means));
  if (plot_) append(plot_, drift_.draw());
  if (page_file_ && means != nullptr) {
    append(page_file_, page_.html(setting_, totals, drift_, *means, widest));
  }
  for (const auto& sink : sinks_) sink->commit();
  if (field_) field_->commit();
  for (std::optional<AtomicFile>* file : {&csv_, &json_, &plot_, &page_file_}) {
    if (*file) (*file)->commit();
  }
  totals.files = names();
}

std::vector<std::string> StackOutputs::names() const {
  std::vector<std::string> names;
  for (const auto& sink : sinks_)
    names.push_back(sink->name() == "-" ? "standard output" : sink->name());
  if (field_) names.push_back(field_->name());
  for (const auto* name : {&options_.csv, &options_.json, &options_.plot, &options_.page}) {
    if (*name && !options_.shard) names.push_back(**name);
  }
  return names;
}

}  // namespace warpalign::program
