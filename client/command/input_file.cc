#include "client/command/input_file.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace trelu::command {
namespace {

absl::Status WrongLength(std::uint64_t got, bool more, std::uint64_t expected) {
  return absl::InvalidArgumentError(absl::StrCat("data = ", more ? "more than " : "", got,
                                                 " bytes: expected ", expected,
                                                 " for its dtype and shape"));
}

void Reverse(std::span<std::byte> elements, std::size_t element_bytes) {
  for (std::size_t i = 0; i < elements.size(); i += element_bytes) {
    const std::span element = elements.subspan(i, element_bytes);
    std::reverse(element.begin(), element.end());
  }
}

}  // namespace

absl::StatusOr<std::shared_ptr<InputFile>> InputFile::Open(const std::string& name) {
  const int descriptor = name == "-" ? dup(STDIN_FILENO) : open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return absl::ErrnoToStatus(errno, "cannot be opened");
  // NOLINTNEXTLINE(modernize-make-shared): the constructor is private
  std::shared_ptr<InputFile> file(new InputFile(descriptor));
  struct stat about {};
  if (fstat(descriptor, &about) != 0) return absl::ErrnoToStatus(errno, "cannot be looked at");
  if (S_ISDIR(about.st_mode)) return absl::InvalidArgumentError("is a directory");
  if (S_ISREG(about.st_mode)) {
    const off_t at = lseek(descriptor, 0, SEEK_CUR);
    file->descriptor_bytes_left_ =
        static_cast<std::uint64_t>(std::max<off_t>(about.st_size - at, 0));
  }
  return file;
}

InputFile::~InputFile() { close(descriptor_); }

std::optional<std::uint64_t> InputFile::BytesLeft() const {
  if (!descriptor_bytes_left_) return std::nullopt;
  return *descriptor_bytes_left_ + peeked_.size();
}

absl::StatusOr<std::size_t> InputFile::ReadDescriptor(std::span<std::byte> buffer) const {
  std::size_t done = 0;
  while (done < buffer.size()) {
    const ssize_t count = read(descriptor_, buffer.data() + done, buffer.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return absl::ErrnoToStatus(errno, "cannot be read");
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

absl::StatusOr<std::size_t> InputFile::Read(std::span<std::byte> buffer) {
  const std::size_t ready = std::min(peeked_.size(), buffer.size());
  std::copy_n(peeked_.begin(), ready, buffer.begin());
  peeked_.erase(peeked_.begin(), peeked_.begin() + static_cast<std::ptrdiff_t>(ready));
  absl::StatusOr<std::size_t> count = ReadDescriptor(buffer.subspan(ready));
  if (!count.ok()) return count;
  if (descriptor_bytes_left_)
    *descriptor_bytes_left_ -= std::min<std::uint64_t>(*descriptor_bytes_left_, *count);
  return ready + *count;
}

absl::StatusOr<std::span<const std::byte>> InputFile::Peek(std::size_t count) {
  if (const std::size_t have = peeked_.size(); have < count) {
    peeked_.resize(count);
    const absl::StatusOr<std::size_t> more = ReadDescriptor(std::span(peeked_).subspan(have));
    peeked_.resize(have + more.value_or(0));
    if (!more.ok()) return more.status();
    if (descriptor_bytes_left_)
      *descriptor_bytes_left_ -= std::min<std::uint64_t>(*descriptor_bytes_left_, *more);
  }
  return std::span<const std::byte>(peeked_).first(std::min(count, peeked_.size()));
}

absl::StatusOr<Client::Source> RestOfFile(std::shared_ptr<InputFile> file, std::uint64_t bytes) {
  const std::optional<std::uint64_t> rest = file->BytesLeft();
  if (rest && *rest != bytes) return WrongLength(*rest, false, bytes);
  // The end of a pipe is looked at with its last byte, so that a tensor without bytes is looked at
  // now.
  const auto check_end = [bytes](InputFile& pipe) -> absl::Status {
    const absl::StatusOr<std::span<const std::byte>> extra = pipe.Peek(1);
    if (!extra.ok()) return extra.status();
    return extra->empty() ? absl::OkStatus() : WrongLength(bytes, true, bytes);
  };
  if (bytes == 0) {
    if (absl::Status status = check_end(*file); !status.ok()) return status;
  }
  std::uint64_t done = 0;
  return [=, file = std::move(file)](std::span<std::byte> buffer) mutable -> absl::Status {
    const absl::StatusOr<std::size_t> count = file->Read(buffer);
    if (!count.ok()) return count.status();
    done += *count;
    if (*count < buffer.size()) return WrongLength(done, false, bytes);
    return done == bytes && *count > 0 ? check_end(*file) : absl::OkStatus();
  };
}

Client::Source SwapElements(Client::Source source, std::size_t element_bytes) {
  std::array<std::byte, 8> begun{};
  std::size_t handed_out = element_bytes;  // bytes of `begun` that the caller has
  return [=, source = std::move(source)](std::span<std::byte> buffer) mutable -> absl::Status {
    while (!buffer.empty()) {
      if (handed_out == element_bytes && buffer.size() >= element_bytes) {
        const std::span whole = buffer.first(buffer.size() / element_bytes * element_bytes);
        if (absl::Status status = source(whole); !status.ok()) return status;
        Reverse(whole, element_bytes);
        buffer = buffer.subspan(whole.size());
        continue;
      }
      const std::span element = std::span(begun).first(element_bytes);
      if (handed_out == element_bytes) {
        if (absl::Status status = source(element); !status.ok()) return status;
        Reverse(element, element_bytes);
        handed_out = 0;
      }
      const std::size_t count = std::min(buffer.size(), element_bytes - handed_out);
      std::memcpy(buffer.data(), element.data() + handed_out, count);
      handed_out += count;
      buffer = buffer.subspan(count);
    }
    return absl::OkStatus();
  };
}

Client::Source FromMemory(std::shared_ptr<const std::string> data) {
  std::size_t done = 0;
  return [data = std::move(data), done](std::span<std::byte> buffer) mutable -> absl::Status {
    if (buffer.size() > data->size() - done)
      return absl::OutOfRangeError("read past the data's end");
    std::memcpy(buffer.data(), data->data() + done, buffer.size());
    done += buffer.size();
    return absl::OkStatus();
  };
}

}  // namespace trelu::command
