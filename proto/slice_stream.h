// Received slices as a stream that protobuf's parser reads from.
#ifndef TRELU_PROTO_SLICE_STREAM_H_
#define TRELU_PROTO_SLICE_STREAM_H_

#include <google/protobuf/io/zero_copy_stream.h>
#include <grpcpp/support/slice.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace trelu {

// Reads `slices`, which outlive it, without copying. gRPC's own grpc::ProtoBufferReader will not
// do: it aborts the process when BackUp asks for more than the last slice, and protobuf's bounded
// parse does ask that after some malformed messages.
class SliceStream final : public google::protobuf::io::ZeroCopyInputStream {
 public:
  explicit SliceStream(std::span<const grpc::Slice> slices) : slices_(slices) {}

  bool Next(const void** data, int* size) override;
  // Goes back no further than the last slice; nobody reads on after that.
  void BackUp(int count) override;
  bool Skip(int count) override;
  std::int64_t ByteCount() const override { return read_; }

 private:
  std::span<const grpc::Slice> slices_;  // slices_[0] is the one being read
  std::size_t offset_ = 0;               // in it
  std::int64_t read_ = 0;
};

}  // namespace trelu

#endif  // TRELU_PROTO_SLICE_STREAM_H_
