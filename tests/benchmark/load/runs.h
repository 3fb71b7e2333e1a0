// The runs of the load generator, one for each kind of call. Each keeps options.in_flight requests
// in flight until the window is over, on the calling thread alone.
#ifndef TRELU_TESTS_BENCHMARK_LOAD_RUNS_H_
#define TRELU_TESTS_BENCHMARK_LOAD_RUNS_H_

#include "tests/benchmark/load/load_options.h"
#include "tests/benchmark/load/window.h"

namespace trelu::benchmark {

// Calls of one message each.
void RunUnary(const LoadOptions& options, Window& window);
// Streams, over the connections in turn; at least one message in flight on each.
void RunStreams(const LoadOptions& options, Window& window);
// Streams that have had an answer and then rest for options.seconds. Says so when all do.
void RunIdleStreams(const LoadOptions& options);
// The payload alone over bare sockets.
void RunSockets(const LoadOptions& options, Window& window);

}  // namespace trelu::benchmark

#endif  // TRELU_TESTS_BENCHMARK_LOAD_RUNS_H_
