// Reads the frames of an array in a .npy file: frame by frame, or in Fortran order by gathering
// them from a memory mapping.
#include "io/frames/npy_frames.hpp"

#include "io/byte_order.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <vector>

namespace warpalign::program {
namespace {

NpyLayout layout_of(const InputFile& file) {
  constexpr std::size_t enough = std::size_t{1} << 16;  // NumPy's headers have some 100 bytes
  std::vector<std::byte> head(enough);
  head.resize(file.read_at(0, head));
  return read_npy_layout(head);
}

FileError shortened() { return FileError("was shortened while it was being read; start again"); }

}  // namespace

NpyFrames::NpyFrames(const std::filesystem::path& path)
    : name_(path.string()), stem_(path.stem().string()), file_(path), layout_(layout_of(file_)) {
  understand_axes();
  find_whole_frames();
  if (layout_.fortran_order) map();
}

NpyFrames::~NpyFrames() {
  if (mapped_ != nullptr) ::munmap(mapped_, mapped_bytes_);
}

void NpyFrames::understand_axes() {
  const auto& extents = layout_.extents;
  const std::size_t axes = extents.size();
  if (axes != 2 && axes != 3 && !(axes == 4 && extents[3] == 3)) {
    throw FileError(
        fmt::format("has the shape ({}); the axes of a stack must be frame, row, column and, for "
                    "colour, an axis of 3",
                    fmt::join(extents, ", ")));
  }
  if (layout_.type == PixelType::c32) {
    throw FileError("holds complex numbers; frames must be real: save the absolute values");
  }
  numbered_ = axes > 2;
  frames_ = numbered_ ? static_cast<std::size_t>(extents[0]) : 1;
  height_ = extents[numbered_ ? 1 : 0];
  width_ = extents[numbered_ ? 2 : 1];
  channels_ = axes == 4 ? 3 : 1;
  if (frames_ == 0) throw FileError("contains no frames");
  check_sides(width_, height_);
}

std::size_t NpyFrames::frame_bytes() const {
  return static_cast<std::size_t>(width_ * height_ * channels_) * size_of(layout_.type);
}

void NpyFrames::find_whole_frames() {
  const std::size_t found = file_.size() - layout_.start;
  if (frames_ > std::numeric_limits<std::int64_t>::max() / frame_bytes()) {
    throw damaged("its shape needs more bytes than any file has");
  }
  const std::size_t wanted = frames_ * frame_bytes();
  if (found > wanted) {
    throw damaged(fmt::format("it has {} bytes of numbers, more than its shape ({}) needs", found,
                              fmt::join(layout_.extents, ", ")));
  }
  whole_ = std::min(frames_, found / frame_bytes());
  // In Fortran order the samples of all frames are interleaved, so the whole file is needed.
  if (layout_.fortran_order && frames_ > 1 && whole_ < frames_) whole_ = 0;
  if (whole_ == 0) {
    throw damaged(fmt::format("it has {} bytes of numbers, and no frame of its shape ({}) is whole",
                              found, fmt::join(layout_.extents, ", ")));
  }
}

void NpyFrames::map() {
  mapped_bytes_ = layout_.start + whole_ * frame_bytes();
  void* mapped = ::mmap(nullptr, mapped_bytes_, PROT_READ, MAP_SHARED, file_.descriptor(), 0);
  if (mapped == MAP_FAILED) {
    throw FileError(fmt::format("cannot be mapped into memory ({}); copy it to a local disk",
                                std::strerror(errno)));
  }
  mapped_ = static_cast<std::byte*>(mapped);
}

std::optional<Frame> NpyFrames::next() {
  if (next_ == whole_) return {};
  Frame frame{numbered_ ? fmt::format("{}[{}]", name_, next_) : name_, stem_, {}, {}};
  frame.image = make_image(width_, height_, channels_, layout_.type);
  if (layout_.fortran_order) {
    gather(frame.image);
  } else {
    read_dense(frame.image);
  }
  if (layout_.big_endian) reverse_words(frame.image.pixels, layout_.word);
  ++next_;
  return frame;
}

bool NpyFrames::skip() {
  if (next_ == whole_) return false;
  ++next_;
  return true;
}

void NpyFrames::read_dense(LoadedImage& image) const {
  if (file_.read_at(layout_.start + next_ * frame_bytes(), image.pixels) < frame_bytes()) {
    throw shortened();
  }
}

/// In Fortran order the frame index varies fastest, then the row, the column and the colour.
void NpyFrames::gather(LoadedImage& image) const {
  // Accessing mapped pages beyond the end of a shortened file would kill the program.
  if (file_.size() < mapped_bytes_) throw shortened();
  const std::size_t bytes = size_of(layout_.type);
  const auto height = static_cast<std::size_t>(height_);
  const auto width = static_cast<std::size_t>(width_);
  const auto channels = static_cast<std::size_t>(channels_);
  const std::byte* numbers = mapped_ + layout_.start + next_ * bytes;
  std::byte* to = image.pixels.data();
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      for (std::size_t c = 0; c < channels; ++c, to += bytes) {
        std::memcpy(to, numbers + frames_ * (y + height * (x + width * c)) * bytes, bytes);
      }
    }
  }
  // Otherwise the pages read so far would count as the program's memory.
  ::madvise(mapped_, mapped_bytes_, MADV_DONTNEED);
}

std::string NpyFrames::ended_early() const {
  if (next_ < whole_ || whole_ == frames_) return {};
  return fmt::format("is truncated: of its {} frames, {} are whole; copy or export it again",
                     frames_, whole_);
}

}  // namespace warpalign::program
