// Bytes read once, front to back, from a file or standard input.
#ifndef TRELU_CLIENT_COMMAND_INPUT_FILE_H_
#define TRELU_CLIENT_COMMAND_INPUT_FILE_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trelu/client.h"

namespace trelu::command {

// Owns the descriptor. One thread at a time.
class InputFile {
 public:
  // "-" is standard input. NOT_FOUND, PERMISSION_DENIED or another code with the system's words.
  static absl::StatusOr<std::shared_ptr<InputFile>> Open(const std::string& name);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // Bytes still to be read; nothing when only reading tells (pipes, terminals, devices).
  std::optional<std::uint64_t> BytesLeft() const;

  // Fills `buffer` and returns its size, or fewer at the end of the file alone.
  absl::StatusOr<std::size_t> Read(std::span<std::byte> buffer);

  // The next `count` bytes, or fewer at the end, without consuming them. Valid until the next call.
  absl::StatusOr<std::span<const std::byte>> Peek(std::size_t count);

 private:
  explicit InputFile(int descriptor) : descriptor_(descriptor) {}

  absl::StatusOr<std::size_t> ReadDescriptor(std::span<std::byte> buffer) const;

  int descriptor_;
  std::optional<std::uint64_t> descriptor_bytes_left_;
  std::vector<std::byte> peeked_;
};

// The rest of `file`, which must be `bytes` bytes, no more and no less. INVALID_ARGUMENT with both
// numbers when it is not: at once when the file tells its size, else from the source that is
// returned.
absl::StatusOr<Client::Source> RestOfFile(std::shared_ptr<InputFile> file, std::uint64_t bytes);

// The bytes of `source`, whose elements are big-endian, as little-endian ones. The buffers to fill
// may begin and end inside an element.
Client::Source SwapElements(Client::Source source, std::size_t element_bytes);

// The bytes of `data`, kept alive by the source.
Client::Source FromMemory(std::shared_ptr<const std::string> data);

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_INPUT_FILE_H_
