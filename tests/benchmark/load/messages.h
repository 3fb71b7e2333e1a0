// The messages that a run sends, made once, and what their answers must be.
#ifndef TRELU_TESTS_BENCHMARK_LOAD_MESSAGES_H_
#define TRELU_TESTS_BENCHMARK_LOAD_MESSAGES_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <string>

#include "tests/benchmark/load/load_options.h"

namespace trelu::benchmark {

// Stays while anything of it is being sent. One thread.
class Messages {
 public:
  explicit Messages(const LoadOptions& options);
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  const std::string& path() const { return path_; }
  // The only message of a unary call, the first one of a stream.
  const grpc::ByteBuffer& first() const { return first_; }
  // Every further one of a stream.
  const grpc::ByteBuffer& next() const { return next_; }

  // Ends the process, saying why, when `answer` cannot be the answer to `first` or `next`: by its
  // size, or, verifying, by any byte of it.
  void Check(const grpc::ByteBuffer& answer, bool first);

 private:
  void Verify(const std::string& answer, bool first) const;

  const LoadOptions& options_;
  std::string path_;
  std::string payload_;
  std::string expected_;
  std::string first_text_;
  std::string next_text_;
  grpc::ByteBuffer first_;
  grpc::ByteBuffer next_;
  std::size_t answer_bytes_[2] = {0, 0};  // of the first answer of each kind
};

}  // namespace trelu::benchmark

#endif  // TRELU_TESTS_BENCHMARK_LOAD_MESSAGES_H_
