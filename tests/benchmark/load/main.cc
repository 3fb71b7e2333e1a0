// The load generator: one kind of request, in closed loop, against any contender. Prints one line
// of JSON. One thread, so that it needs little of the machine it shares with the server.
#include <absl/synchronization/mutex.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <string>

#include "server/allocator.h"
#include "tests/benchmark/load/payload.h"
#include "tests/benchmark/load/runs.h"

int main(int argc, char** argv) {
  using namespace trelu::benchmark;  // NOLINT(google-build-using-namespace): a program
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  trelu::server::TuneAllocator(2);
  LoadOptions options;
  CLI::App app("Load for the benchmark: see tests/benchmark/run.sh.");
  const auto choice = [&app](const char* name, auto& value, auto map) {
    app.add_option(name, value)->transform(CLI::CheckedTransformer(map));
  };
  app.add_option("--target", options.target)->required();
  choice("--call", options.call,
         std::map<std::string, Call>{
             {"unary", Call::kUnary}, {"stream", Call::kStream}, {"socket", Call::kSocket}});
  choice("--face", options.face,
         std::map<std::string, Face>{{"native", Face::kNative}, {"inference", Face::kInference}});
  choice("--pieces", options.pieces,
         std::map<std::string, Pieces>{{"tensors", Pieces::kTensors}, {"chunks", Pieces::kChunks}});
  choice(
      "--answers", options.answers,
      std::map<std::string, Answers>{{"operator", Answers::kOperator}, {"echo", Answers::kEcho}});
  app.add_option("--bytes", options.bytes)->check(CLI::PositiveNumber);
  app.add_option("--in-flight", options.in_flight)->check(CLI::PositiveNumber);
  app.add_option("--connections", options.connections)->check(CLI::PositiveNumber);
  app.add_option("--streams", options.streams)->check(CLI::PositiveNumber);
  app.add_flag("--idle", options.idle);
  app.add_option("--seconds", options.seconds)->check(CLI::PositiveNumber);
  app.add_option("--rest-us", options.rest_us)->check(CLI::NonNegativeNumber);
  app.add_option("--server-pid", options.server);
  app.add_option("--tls-ca", options.tls_ca);
  app.add_flag("--verify", options.verify);
  CLI11_PARSE(app, argc, argv);
  if (options.streams == 0) options.streams = options.connections;
  if (options.in_flight < options.connections || options.bytes % sizeof(float) != 0) {
    Fail("--in-flight must be at least --connections, --bytes a multiple of 4");
  }
  if (options.rest_us > 0 && (options.call != Call::kUnary || options.in_flight != 1)) {
    Fail("--rest-us needs --call unary and --in-flight 1");
  }
  if (options.idle) {
    RunIdleStreams(options);
    return 0;
  }
  Window window(options.seconds, options.in_flight, options.server);
  switch (options.call) {
    case Call::kUnary:
      RunUnary(options, window);
      break;
    case Call::kStream:
      RunStreams(options, window);
      break;
    case Call::kSocket:
      RunSockets(options, window);
      break;
  }
  std::printf("%s\n", window.Report(options.bytes).c_str());
  return 0;
}
