// One tensor from where it is, through a server, to where it should go.
#ifndef TRELU_CLIENT_COMMAND_APPLY_H_
#define TRELU_CLIENT_COMMAND_APPLY_H_

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "client/command/exit_codes.h"
#include "client/command/tensor_file.h"
#include "trelu/client.h"

namespace trelu::command {

struct ApplyRequest {
  std::string target;  // for messages
  std::string input;
  TensorFlags flags;
  // Empty: the result is shown. "checksum:": only its checksum is. Else a file, or "-".
  std::string output;
  std::optional<FileFormat> output_format;
  std::optional<float> alpha;
  bool verify = false;
  // Of a tensor that goes in one call, and of one that goes as a stream; zero: no limit.
  std::chrono::milliseconds timeout = std::chrono::seconds(60);
  std::chrono::milliseconds stream_timeout{0};
  // Larger tensors go as a stream, through constant memory.
  std::uint64_t stream_above_bytes = std::uint64_t{8} << 20;
};

// Blocks until the result is where it should be. What there is to read goes to `out`; an error is
// reported on stderr in one line, and a progress bar if that is a terminal.
ExitCode Apply(const ApplyRequest& request, Client& client, std::FILE* out);

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_APPLY_H_
