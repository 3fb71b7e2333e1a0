#include "server/reflection.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/impl/server_builder_option.h>

#include <memory>
#include <vector>

namespace trelu::server {
namespace {

class NoReflection final : public grpc::ServerBuilderOption {
 public:
  void UpdateArguments(grpc::ChannelArguments* /*arguments*/) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>* plugins) override {
    const std::string reflection = grpc::reflection::ProtoServerReflectionPlugin().name();
    std::erase_if(*plugins, [&](const auto& plugin) { return plugin->name() == reflection; });
  }
};

}  // namespace

void SetReflection(grpc::ServerBuilder& builder, bool enabled) {
  if (!enabled) builder.SetOption(std::make_unique<NoReflection>());
}

}  // namespace trelu::server
