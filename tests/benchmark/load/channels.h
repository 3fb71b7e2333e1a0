// Connections of the load generator's, each a channel of its own.
#ifndef TRELU_TESTS_BENCHMARK_LOAD_CHANNELS_H_
#define TRELU_TESTS_BENCHMARK_LOAD_CHANNELS_H_

#include <grpcpp/channel.h>

#include <memory>
#include <vector>

#include "tests/benchmark/load/load_options.h"

namespace trelu::benchmark {

std::vector<std::shared_ptr<grpc::Channel>> Connect(const LoadOptions& options);

}  // namespace trelu::benchmark

#endif  // TRELU_TESTS_BENCHMARK_LOAD_CHANNELS_H_
