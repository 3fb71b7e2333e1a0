#include "client/channel_pool.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/support/channel_arguments.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>
#include <utility>

namespace trelu {
namespace {

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  if (path.empty()) return std::string();
  const auto failure = [&path] {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (file == nullptr) return failure();
  std::string content;
  std::array<char, 4096> part;
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), file.get())) {
    content.append(part.data(), size);
  }
  if (std::ferror(file.get()) != 0) return failure();
  if (content.empty()) return absl::InvalidArgumentError(absl::StrCat(path, " is empty"));
  return content;
}

grpc::ChannelArguments Arguments(const ClientOptions& options) {
  grpc::ChannelArguments arguments;
  // Channels to one target would otherwise share a connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  // gRPC's own retries give up above 256 KiB; ours do not.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_CHANNELZ, 0);
  arguments.SetCompressionAlgorithm(GRPC_COMPRESS_NONE);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // From gRPC's second down to what our own retries can use: until a connection is tried again,
  // calls fail at once.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 10'000);
  if (absl::StartsWith(options.target, "dns:")) {
    arguments.SetLoadBalancingPolicyName("round_robin");
    // From gRPC's 30 seconds: when a connection has ended, new replicas are found at once.
    arguments.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, 5'000);
  }
  if (options.tls.enabled && !options.tls.server_name.empty()) {
    arguments.SetSslTargetNameOverride(options.tls.server_name);
  }
  return arguments;
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeCredentials(const TlsOptions& tls) {
  if (!tls.enabled) return grpc::InsecureChannelCredentials();
  if (tls.cert_file.empty() != tls.key_file.empty()) {
    return absl::InvalidArgumentError("tls.cert_file and tls.key_file: give both or neither");
  }
  absl::StatusOr<std::string> ca = ReadFile(tls.ca_file);
  if (!ca.ok()) return ca.status();
  absl::StatusOr<std::string> cert = ReadFile(tls.cert_file);
  if (!cert.ok()) return cert.status();
  absl::StatusOr<std::string> key = ReadFile(tls.key_file);
  if (!key.ok()) return key.status();
  return grpc::SslCredentials({*ca, *key, *cert});
}

ChannelPool::ChannelPool(const ClientOptions& options,
                         const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  const grpc::ChannelArguments arguments = Arguments(options);
  for (int i = 0; i < options.connections; ++i) {
    auto channel = grpc::CreateCustomChannel(options.target, credentials, arguments);
    grpc::GenericStub stub(channel);
    connections_.push_back({std::move(channel), std::move(stub)});
  }
}

ChannelPool::Connection& ChannelPool::Next() {
  return connections_[turn_.fetch_add(1, std::memory_order_relaxed) % connections_.size()];
}

}  // namespace trelu
