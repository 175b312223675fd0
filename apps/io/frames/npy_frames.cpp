// Reads the frames of an array in a .npy file: plane by plane, or by gathering the samples of a
// plane from a memory mapping.
#include "io/frames/npy_frames.hpp"

#include "io/byte_order.hpp"
#include "io/frames/axis_letters.hpp"
#include "io/narrow_integers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <numeric>
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

/// The axes of a stack for which the user gives no letters.
std::string usual_letters(const std::vector<std::int64_t>& extents) {
  const std::size_t axes = extents.size();
  if (axes == 2) return "YX";
  if (axes == 3) return "TYX";
  if (axes == 4 && extents[3] == 3) return "TYXS";
  throw FileError(
      fmt::format("has the shape ({}); the axes of a stack must be frame, row, column and, for "
                  "colour, an axis of 3: name others with --axes",
                  fmt::join(extents, ", ")));
}

}  // namespace

NpyFrames::NpyFrames(const std::filesystem::path& path, const PlaneChoice& choice)
    : name_(path.string()), stem_(path.stem().string()), file_(path), layout_(layout_of(file_)) {
  understand_axes(choice);
  find_whole_planes();
  choose_planes(choice);
  if (!has_dense_planes()) map();
}

NpyFrames::~NpyFrames() {
  if (mapped_ != nullptr) ::munmap(mapped_, mapped_bytes_);
}

NpyFrames::Axis& NpyFrames::axis_of(char letter) {
  switch (letter) {
    case 'T':
      return t_;
    case 'Z':
      return z_;
    case 'C':
      return c_;
    case 'Y':
      return y_;
    case 'X':
      return x_;
    default:
      return s_;
  }
}

void NpyFrames::understand_axes(const PlaneChoice& choice) {
  if (layout_.type == PixelType::c32) {
    throw FileError("holds complex numbers; frames must be real: save the absolute values");
  }
  const auto& extents = layout_.extents;
  const std::string letters = choice.axes ? *choice.axes : usual_letters(extents);
  if (std::ranges::find(extents, 0) != extents.end()) throw FileError("contains no frames");
  const NamedExtents axes = name_extents(letters, {extents.begin(), extents.end()});
  samples_ = 1;
  for (std::size_t i = 0; i < axes.letters.size(); ++i) {
    const std::size_t at = layout_.fortran_order ? i : axes.letters.size() - 1 - i;
    slowest_ = axes.letters[at];
    axis_of(slowest_) = {axes.extents[at], samples_};
    if (samples_ > max_file_samples() / axes.extents[at]) {
      throw damaged("its shape needs more bytes than any file has");
    }
    samples_ *= axes.extents[at];
  }
  format_.axes = axes.letters;
  numbered_ = axes.letters.size() > (axes.letters.find('S') == std::string::npos ? 2U : 3U);
  if (s_.extent != 1 && s_.extent != 3 && s_.extent != 4) {
    throw FileError(fmt::format(
        "has {} samples along its axis S; colour has 3, or 4 with alpha: call another axis S",
        s_.extent));
  }
  check_sides(static_cast<std::int64_t>(x_.extent), static_cast<std::int64_t>(y_.extent));
  channels_ = s_.extent == 1 ? 1 : 3;
}

std::size_t NpyFrames::max_file_samples() const {
  return static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max()) /
         layout_.stored_bytes();
}

/// If the file ends early, only whole frames are read. They are contiguous if the frame is the
/// slowest axis; otherwise each frame extends over the whole file.
void NpyFrames::find_whole_planes() {
  const std::uint64_t size = file_.size();
  const std::size_t found = size - std::min<std::uint64_t>(size, layout_.start);
  const std::size_t wanted = samples_ * layout_.stored_bytes();
  if (found > wanted) {
    throw damaged(fmt::format("it has {} bytes of numbers, more than its shape ({}) needs", found,
                              fmt::join(layout_.extents, ", ")));
  }
  const bool slices_are_frames = t_.extent == 1 && z_.extent > 1;
  Axis& frames = slices_are_frames ? z_ : t_;
  promised_ = frames.extent;
  if (slowest_ == (slices_are_frames ? 'Z' : 'T')) {
    frames.extent = std::min(promised_, found / (frames.stride * layout_.stored_bytes()));
  } else if (found < wanted) {
    frames.extent = 0;
  }
  whole_ = frames.extent;
  if (whole_ == 0) {
    throw damaged(fmt::format("it has {} bytes of numbers, and no frame of its shape ({}) is whole",
                              found, fmt::join(layout_.extents, ", ")));
  }
}

void NpyFrames::choose_planes(const PlaneChoice& choice) {
  TiffAxes axes;
  axes.frames = t_.extent;
  axes.slices = z_.extent;
  axes.channels = c_.extent;
  axes.pages.resize(axes.frames * axes.slices * axes.channels);
  std::iota(axes.pages.begin(), axes.pages.end(), std::int64_t{0});
  planes_ = chosen_pages(axes, choice);
  format_.slices = planes_.slices;
  format_.channels = planes_.channels;
  format_.frames_are_slices = planes_.frames_are_slices;
  format_.has_all_planes = planes_.has_all_planes;
  format_.samples = channels_;
}

/// Whether the samples of a plane are contiguous and have the order of an image.
bool NpyFrames::has_dense_planes() const {
  const auto has_stride = [](const Axis& axis, std::size_t stride) {
    return axis.extent == 1 || axis.stride == stride;
  };
  return s_.extent != 4 && has_stride(s_, 1) && has_stride(x_, s_.extent) &&
         has_stride(y_, s_.extent * x_.extent);
}

void NpyFrames::map() {
  mapped_bytes_ = layout_.start + samples_ * layout_.stored_bytes();
  mapped_bytes_ = std::min<std::size_t>(mapped_bytes_, file_.size());
  void* mapped = ::mmap(nullptr, mapped_bytes_, PROT_READ, MAP_SHARED, file_.descriptor(), 0);
  if (mapped == MAP_FAILED) {
    throw FileError(fmt::format("cannot be mapped into memory ({}); copy it to a local disk",
                                std::strerror(errno)));
  }
  mapped_ = static_cast<std::byte*>(mapped);
}

std::optional<Frame> NpyFrames::next() {
  if (next_ == planes_.frames()) return {};
  Frame frame{numbered_ ? fmt::format("{}[{}]", name_, next_) : name_, stem_, {}, {}};
  const auto numbers = std::span(planes_.pages).subspan(next_ * planes_.planes(), planes_.planes());
  if (numbers.size() == 1) {
    frame.image = read(numbers.front());
  } else {
    for (const std::int64_t number : numbers) frame.planes.push_back(read(number));
  }
  ++next_;
  return frame;
}

bool NpyFrames::skip() {
  if (next_ == planes_.frames()) return false;
  ++next_;
  return true;
}

LoadedImage NpyFrames::read(std::int64_t plane) const {
  const auto number = static_cast<std::size_t>(plane);
  const std::size_t c = number % c_.extent;
  const std::size_t z = number / c_.extent % z_.extent;
  const std::size_t t = number / c_.extent / z_.extent;
  const std::size_t sample = t * t_.stride + z * z_.stride + c * c_.stride;
  const std::uint64_t start = layout_.start + sample * layout_.stored_bytes();
  LoadedImage image{static_cast<std::int64_t>(x_.extent),
                    static_cast<std::int64_t>(y_.extent),
                    channels_,
                    layout_.type,
                    {}};
  image.pixels.resize(x_.extent * y_.extent * static_cast<std::size_t>(channels_) *
                      layout_.stored_bytes());
  if (mapped_ != nullptr) {
    gather(start, image.pixels);
  } else if (file_.read_at(start, image.pixels) < image.pixels.size()) {
    throw shortened();
  }
  if (layout_.big_endian) reverse_words(image.pixels, layout_.word);
  if (layout_.wide) image.pixels = narrow_integers(image.pixels, layout_.type);
  return image;
}

void NpyFrames::gather(std::uint64_t start, std::span<std::byte> plane) const {
  // Accessing mapped pages beyond the end of a shortened file would kill the program.
  if (file_.size() < mapped_bytes_) throw shortened();
  const std::size_t bytes = layout_.stored_bytes();
  const auto channels = static_cast<std::size_t>(channels_);
  const std::byte* numbers = mapped_ + start;
  std::byte* to = plane.data();
  for (std::size_t y = 0; y < y_.extent; ++y) {
    for (std::size_t x = 0; x < x_.extent; ++x) {
      for (std::size_t s = 0; s < channels; ++s, to += bytes) {
        std::memcpy(to, numbers + (y * y_.stride + x * x_.stride + s * s_.stride) * bytes, bytes);
      }
    }
  }
  // Otherwise the pages read so far would count as the program's memory.
  ::madvise(mapped_, mapped_bytes_, MADV_DONTNEED);
}

std::string NpyFrames::ended_early() const {
  if (next_ < planes_.frames() || whole_ == promised_) return {};
  return fmt::format("is truncated: of its {} frames, {} are whole; copy or export it again",
                     promised_, whole_);
}

}  // namespace warpalign::program
