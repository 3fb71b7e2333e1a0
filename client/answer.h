// The server's answer to one tensor, checked as it comes.
#ifndef TRELU_CLIENT_ANSWER_H_
#define TRELU_CLIENT_ANSWER_H_

#include <absl/status/status.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "trelu/tensor_spec.h"

namespace trelu {

// Takes ApplyResponse messages of one tensor, one by Apply or any number by ApplyStream, and passes
// the bytes on. Nothing is trusted: an answer that does not have exactly the request's tensor and
// bytes ends in DATA_LOSS, and never passes on more bytes than the tensor has.
class Answer {
 public:
  // Called with the offset in the tensor and the bytes from there on; an error is returned as it
  // is.
  using Take = std::function<absl::Status(std::uint64_t offset, std::span<const std::byte> bytes)>;

  // `spec` must outlive the object.
  Answer(const TensorSpec& spec, Take take);

  // The next message; it is emptied.
  absl::Status Add(grpc::ByteBuffer& message);

  // The server has ended the answer with OK: was it whole?
  absl::Status Complete() const;

  std::uint64_t received_bytes() const { return received_bytes_; }

  // Back to the beginning, for another try.
  void Restart();

 private:
  const TensorSpec& spec_;
  Take take_;
  bool begun_ = false;
  std::uint64_t received_bytes_ = 0;
};

}  // namespace trelu

#endif  // TRELU_CLIENT_ANSWER_H_
