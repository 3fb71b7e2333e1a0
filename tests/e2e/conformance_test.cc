// The operator's published vectors over the wire: unary, and as streams cut everywhere.
#include <gtest/gtest.h>

#include <array>
#include <iostream>
#include <string>
#include <vector>

#include "tests/support/conformance.h"
#include "tests/support/in_process_server.h"
#include "tests/support/native_client.h"
#include "tests/support/wire_tensor.h"

namespace trelu::testing {
namespace {

constexpr std::size_t kEdgeCases = 1054;
// Tensors up to this size are sent in chunks of every size.
constexpr std::size_t kSmallBytes = 64;

struct Place {
  const char* name;
  std::uint64_t inline_bytes;
  bool by_workers;
};

std::string ToString(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct EdgeCase {
  std::string name;
  WireTensorCase request;
  std::string output;
};

const std::vector<EdgeCase>& EdgeCases() {
  static const std::vector<EdgeCase> all = [] {
    std::vector<EdgeCase> cases;
    for (const ConformanceCase& one : LoadEdgeCases()) {
      cases.push_back(
          {one.name, {one.dtype, one.shape, one.alpha, ToString(one.input)}, ToString(one.output)});
    }
    return cases;
  }();
  return all;
}

class ConformanceOverTheWire : public ::testing::TestWithParam<Place> {
 protected:
  static server::Options ServerOptions() {
    server::Options options = TestOptions();
    options.inline_bytes = GetParam().inline_bytes;
    return options;
  }

  // Sends the tensors on one stream, each in chunks of `chunk_bytes`, and checks every result.
  void CheckStream(const std::vector<const EdgeCase*>& cases, std::size_t chunk_bytes) {
    auto stream = client_.OpenStream();
    for (const EdgeCase* one : cases) {
      for (const auto& chunk : ToChunks(one->request, chunk_bytes)) {
        ASSERT_TRUE(stream->Write(chunk.SerializeAsString())) << one->name;
      }
    }
    stream->WritesDone();
    const auto results = JoinResponses(stream->ReadAll());
    const grpc::Status status = stream->Finish();
    ASSERT_TRUE(status.ok()) << status.error_message();
    ASSERT_TRUE(results);
    ASSERT_EQ(results->size(), cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      ASSERT_TRUE(results->at(i).Is(cases[i]->request, cases[i]->output))
          << cases[i]->name << " in chunks of " << chunk_bytes;
    }
  }

  double Count(const char* series) const { return server_.metrics().Value(series); }

  // That what was computed was computed where this run says.
  void TearDown() override {
    EXPECT_GT(Count("trelu_kernel_seconds_count"), 0);
    EXPECT_EQ(Count("trelu_queue_seconds_count"),
              GetParam().by_workers ? Count("trelu_kernel_seconds_count") - empty_ : 0);
  }

  InProcessServer server_{ServerOptions()};
  NativeClient client_{server_.target()};
  // Computations of nothing, which go nowhere.
  int empty_ = 0;
};

TEST_P(ConformanceOverTheWire, Unary) {
  ASSERT_EQ(EdgeCases().size(), kEdgeCases);
  int node_tests = 0;
  for (const EdgeCase& one : EdgeCases()) {
    const Answer answer = client_.Apply(ToRequest(one.request));
    ASSERT_TRUE(answer.status.ok()) << one.name << ": " << answer.status.error_message();
    const auto result = ParseResponse(answer.message);
    ASSERT_TRUE(result) << one.name;
    ASSERT_TRUE(result->Is(one.request, one.output)) << one.name;
    if (one.request.data.empty()) ++empty_;
    if (one.name.find("node-test") != std::string::npos) {
      ++node_tests;
      std::cout << "published ONNX node test " << one.name << ": same bytes\n";
    }
  }
  EXPECT_EQ(node_tests, 3);
  EXPECT_EQ(Count("trelu_kernel_seconds_count"), kEdgeCases);
}

TEST_P(ConformanceOverTheWire, OneStreamInChunksOfEverySize) {
  std::vector<const EdgeCase*> all;
  for (const EdgeCase& one : EdgeCases()) all.push_back(&one);
  for (const std::size_t chunk_bytes : {1, 2, 3, 5, 7, 13, 31, 127, 1023, 1 << 20}) {
    CheckStream(all, chunk_bytes);
    if (HasFatalFailure()) return;
  }
}

TEST_P(ConformanceOverTheWire, SmallTensorsInChunksOfEverySize) {
  for (std::size_t chunk_bytes = 1; chunk_bytes <= kSmallBytes; ++chunk_bytes) {
    std::vector<const EdgeCase*> cases;
    for (const EdgeCase& one : EdgeCases()) {
      const std::size_t bytes = one.request.data.size();
      if (bytes >= chunk_bytes && bytes <= kSmallBytes) cases.push_back(&one);
    }
    CheckStream(cases, chunk_bytes);
    if (HasFatalFailure()) return;
  }
}

class ExhaustiveOverTheWire : public ConformanceOverTheWire {
 protected:
  static WireTensorCase Request(DType dtype, const ExhaustiveCase& one) {
    return {dtype, {65536}, one.alpha, ToString(AllBitPatterns16())};
  }
  static std::string Digest(const std::string& data) {
    const auto* bytes = reinterpret_cast<const std::byte*>(data.data());
    return Sha256({bytes, bytes + data.size()});
  }
};

TEST_P(ExhaustiveOverTheWire, Unary) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const std::vector<ExhaustiveCase> cases = LoadExhaustiveCases(dtype);
    ASSERT_EQ(cases.size(), 64U);
    for (const ExhaustiveCase& one : cases) {
      const Answer answer = client_.Apply(ToRequest(Request(dtype, one)));
      ASSERT_TRUE(answer.status.ok()) << answer.status.error_message();
      const auto result = ParseResponse(answer.message);
      ASSERT_TRUE(result);
      EXPECT_EQ(Digest(result->data), one.sha256) << Name(dtype) << " alpha " << one.alpha;
    }
  }
}

TEST_P(ExhaustiveOverTheWire, StreamInOddChunks) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const std::vector<ExhaustiveCase> cases = LoadExhaustiveCases(dtype);
    auto stream = client_.OpenStream();
    std::size_t chunk_bytes = 4097;
    for (const ExhaustiveCase& one : cases) {
      chunk_bytes = chunk_bytes * 2 % 65521;
      for (const auto& chunk : ToChunks(Request(dtype, one), chunk_bytes)) {
        ASSERT_TRUE(stream->Write(chunk.SerializeAsString()));
      }
    }
    stream->WritesDone();
    const auto results = JoinResponses(stream->ReadAll());
    ASSERT_TRUE(stream->Finish().ok());
    ASSERT_TRUE(results);
    ASSERT_EQ(results->size(), cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      EXPECT_EQ(Digest(results->at(i).data), cases[i].sha256)
          << Name(dtype) << " alpha " << cases[i].alpha;
    }
  }
}

constexpr std::array kPlaces = {Place{"OnTheQueue", std::uint64_t{1} << 40, false},
                                Place{"ByTheWorkers", 0, true}};
constexpr auto kPlaceName = [](const auto& tested) { return tested.param.name; };
INSTANTIATE_TEST_SUITE_P(Computed, ConformanceOverTheWire, ::testing::ValuesIn(kPlaces),
                         kPlaceName);
INSTANTIATE_TEST_SUITE_P(Computed, ExhaustiveOverTheWire, ::testing::ValuesIn(kPlaces), kPlaceName);

}  // namespace
}  // namespace trelu::testing
