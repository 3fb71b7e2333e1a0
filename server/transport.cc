#include "server/transport.h"

#include <grpcpp/resource_quota.h>

#include <algorithm>
#include <cstdint>

#include "server/machine.h"

namespace trelu::server {

void ConfigureTransport(const Options& options, grpc::ServerBuilder& builder) {
  // The library compares a message with its own limit only once all of it is buffered, so its limit
  // guards nothing; ours, after it, names the flag. What bounds memory is the quota.
  builder.SetMaxReceiveMessageSize(-1);
  builder.SetMaxSendMessageSize(-1);
  grpc::ResourceQuota quota("trelu");
  // Transport buffers. Far above what is in flight: gRPC shrinks its windows as the quota fills,
  // and a tight one stalls large messages for good.
  // But never so far that a container's memory could not hold it.
  const std::uint64_t wanted = std::max(
      std::uint64_t{512} << 20, 2 * (options.max_inflight_bytes + options.max_message_bytes));
  const std::uint64_t affordable =
      std::max(AvailableMemoryBytes() / 2, 2 * options.max_message_bytes);
  quota.Resize(static_cast<std::size_t>(std::min(wanted, affordable)));
  // Reflection alone runs on threads of gRPC's, one for each open stream.
  quota.SetMaxThreads(16);
  builder.SetResourceQuota(quota);
  // A small compressed message inflates before any limit is looked at, and tensors hardly compress.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  // Two servers must not share a port unknowingly.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_ENABLE_CHANNELZ, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 100);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 20'000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  if (options.max_connection_age.count() > 0) {
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS,
                               static_cast<int>(options.max_connection_age.count()));
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, 300'000);
  }
}

}  // namespace trelu::server
