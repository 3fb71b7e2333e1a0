#include "tests/benchmark/load/channels.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/benchmark/load/payload.h"

namespace trelu::benchmark {
namespace {

std::shared_ptr<grpc::ChannelCredentials> CredentialsOf(const LoadOptions& options) {
  if (options.tls_ca.empty()) return grpc::InsecureChannelCredentials();
  std::ifstream file(options.tls_ca);
  grpc::SslCredentialsOptions tls;
  tls.pem_root_certs.assign(std::istreambuf_iterator<char>(file), {});
  if (tls.pem_root_certs.empty()) Fail("cannot read " + options.tls_ca);
  return grpc::SslCredentials(tls);
}

}  // namespace

std::vector<std::shared_ptr<grpc::Channel>> Connect(const LoadOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_CHANNELZ, 0);
  // Channels with equal arguments would share a connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  for (int i = 0; i < options.connections; ++i) {
    channels.push_back(
        grpc::CreateCustomChannel(options.target, CredentialsOf(options), arguments));
    if (!channels.back()->WaitForConnected(std::chrono::system_clock::now() +
                                           std::chrono::seconds(10))) {
      Fail("cannot connect to " + options.target);
    }
  }
  return channels;
}

}  // namespace trelu::benchmark
