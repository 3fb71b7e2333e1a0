// What one run of the load generator is told.
#ifndef TRELU_TESTS_BENCHMARK_LOAD_LOAD_OPTIONS_H_
#define TRELU_TESTS_BENCHMARK_LOAD_LOAD_OPTIONS_H_

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace trelu::benchmark {

enum class Call { kUnary, kStream, kSocket };
enum class Face { kNative, kInference };
// What a stream's messages are: each a whole tensor, or pieces of one that does not end.
enum class Pieces { kTensors, kChunks };
// What the other side makes of a message: the operator's result, or the same bytes.
enum class Answers { kOperator, kEcho };

struct LoadOptions {
  std::string target;
  Call call = Call::kUnary;
  Face face = Face::kNative;
  Pieces pieces = Pieces::kTensors;
  Answers answers = Answers::kOperator;
  std::size_t bytes = 64;  // payload of a message, a multiple of 4
  int in_flight = 1;       // over all connections together
  int connections = 1;
  int streams = 0;     // over all connections; 0: one each
  double seconds = 1;  // measured, after a warm-up
  int rest_us = 0;     // of the only unary caller, between an answer and the next request
  pid_t server = 0;    // whose processor time is measured; 0: nobody's
  std::string tls_ca;  // PEM; empty: plaintext
  // Each stream has one message answered, then all of them rest.
  bool idle = false;
  // Compares every byte of every answer, and measures nothing.
  bool verify = false;
};

}  // namespace trelu::benchmark

#endif  // TRELU_TESTS_BENCHMARK_LOAD_LOAD_OPTIONS_H_
