// Right answers: each way to call, each dtype, each size that changes the way.
#include <gtest/gtest.h>

#include <future>
#include <string>

#include "tests/client/tensors.h"
#include "tests/support/fake_server.h"
#include "trelu/client.h"

namespace trelu::testing {
namespace {

using Way = absl::Status (*)(Client& client, const TensorSpec& spec, std::span<const std::byte> x,
                             std::span<std::byte> y, const ApplyOptions& options);

absl::Status Blocking(Client& client, const TensorSpec& spec, std::span<const std::byte> x,
                      std::span<std::byte> y, const ApplyOptions& options) {
  return client.Apply(spec, x, y, options);
}

absl::Status Asynchronous(Client& client, const TensorSpec& spec, std::span<const std::byte> x,
                          std::span<std::byte> y, const ApplyOptions& options) {
  std::promise<absl::Status> status;
  client.ApplyAsync(spec, x, y, options, [&](absl::Status s) { status.set_value(std::move(s)); });
  return status.get_future().get();
}

absl::Status Streaming(Client& client, const TensorSpec& spec, std::span<const std::byte> x,
                       std::span<std::byte> y, const ApplyOptions& options) {
  absl::Status status = client.ApplyStream(
      spec,
      [&x](std::span<std::byte> part) {
        std::copy_n(x.begin(), part.size(), part.begin());
        x = x.subspan(part.size());
        return absl::OkStatus();
      },
      [&y](std::span<const std::byte> part) {
        std::copy_n(part.begin(), part.size(), y.begin());
        y = y.subspan(part.size());
        return absl::OkStatus();
      },
      options);
  if (status.ok()) {
    EXPECT_TRUE(x.empty());
    EXPECT_TRUE(y.empty());
  }
  return status;
}

// In bytes; the answers' as in Script.
struct Sizes {
  std::uint64_t stream_above = 1 << 20;
  std::uint64_t chunk = 64 << 10;
  std::size_t answer = 0;
};

struct Case {
  std::string name;
  Way way;
  DType dtype;
  std::vector<std::int64_t> dims;
  std::optional<float> alpha;
  Sizes sizes;
};

class ApplyTest : public ::testing::TestWithParam<Case> {};

TEST_P(ApplyTest, GivesTheOperatorsResult) {
  const Case& c = GetParam();
  FakeServer server;
  server.SetScript({.answer_bytes = c.sizes.answer});
  const auto client = Client::Create({.target = server.target(),
                                      .stream_above_bytes = c.sizes.stream_above,
                                      .chunk_bytes = c.sizes.chunk});
  ASSERT_TRUE(client.ok()) << client.status();
  const TensorSpec spec = Spec(c.dtype, c.dims);
  const Bytes x = SomeBytes(spec.bytes());
  const Bytes expected = Expected(spec, c.alpha.value_or(1.0F), x);

  Bytes y(x.size());
  EXPECT_EQ(c.way(**client, spec, x, y, {.alpha = c.alpha}), absl::OkStatus());
  EXPECT_EQ(y, expected);

  Bytes in_place = x;
  EXPECT_EQ(c.way(**client, spec, in_place, in_place, {.alpha = c.alpha}), absl::OkStatus());
  EXPECT_EQ(in_place, expected);
  EXPECT_EQ(server.tries(), 2);
}

std::vector<Case> Cases() {
  struct NamedWay {
    std::string name;
    Way way;
  };
  std::vector<Case> cases;
  for (const auto& [name, way] : {NamedWay{"Blocking", &Blocking}, NamedWay{"Async", &Asynchronous},
                                  NamedWay{"Stream", &Streaming}}) {
    const auto add = [&cases, &name, &way](const std::string& what, DType dtype,
                                           std::vector<std::int64_t> dims, Sizes sizes = {}) {
      cases.push_back({name + "_" + what, way, dtype, std::move(dims), 0.25F, sizes});
    };
    for (const DType dtype : kAllDTypes) add(std::string(Name(dtype)), dtype, {3, 5, 7});
    add("Scalar", DType::kFloat32, {});
    add("Empty", DType::kFloat64, {4, 0, 2});
    add("LargerThanGrpcsDefaultLimit", DType::kFloat32, {1500, 1000},
        {.stream_above = 16 << 20, .chunk = 1 << 20});
    add("AtTheLimitOfUnary", DType::kFloat16, {500}, {.stream_above = 1000});
    add("StreamedByItself", DType::kFloat32, {1500, 1000});
    add("ChunksInsideElements", DType::kFloat64, {1001}, {.stream_above = 100, .chunk = 77});
    add("AnswersInsideElements", DType::kFloat64, {1001},
        {.stream_above = 100, .chunk = 1000, .answer = 77});
    add("ByteByByte", DType::kFloat32, {100}, {.stream_above = 0, .chunk = 1, .answer = 1});
    cases.push_back({name + "_DefaultAlpha", way, DType::kFloat16, {1000}, std::nullopt, Sizes()});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Ways, ApplyTest, ::testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.name; });

TEST(ApplyAsyncTest, ManyInFlightAllEndRight) {
  FakeServer server;
  const auto client = Client::Create({.target = server.target(), .connections = 2}).value();
  constexpr int kCalls = 200;
  const TensorSpec spec = Spec(DType::kFloat32, {256});
  const Bytes x = SomeBytes(spec.bytes());
  std::vector<Bytes> results(kCalls, Bytes(x.size()));
  std::vector<std::promise<absl::Status>> statuses(kCalls);
  for (int i = 0; i < kCalls; ++i) {
    client->ApplyAsync(spec, x, results[i], {},
                       [&, i](absl::Status status) { statuses[i].set_value(std::move(status)); });
  }
  for (int i = 0; i < kCalls; ++i) {
    EXPECT_EQ(statuses[i].get_future().get(), absl::OkStatus());
    EXPECT_EQ(results[i], Expected(spec, 1, x));
  }
}

TEST(ApplyAsyncTest, DoneMayCallAgain) {
  FakeServer server;
  const auto client = Client::Create({.target = server.target()}).value();
  const TensorSpec spec = Spec(DType::kFloat32, {8});
  const Bytes x = SomeBytes(spec.bytes());
  Bytes first(x.size());
  Bytes second(x.size());
  std::promise<absl::Status> status;
  client->ApplyAsync(spec, x, first, {}, [&](const absl::Status&) {
    client->ApplyAsync(spec, first, second, {},
                       [&](absl::Status s) { status.set_value(std::move(s)); });
  });
  EXPECT_EQ(status.get_future().get(), absl::OkStatus());
  EXPECT_EQ(second, first);
}

struct SizeCase {
  std::string name;
  std::size_t x_bytes;
  std::size_t y_bytes;
  std::string message;
};

class SizesTest : public ::testing::TestWithParam<SizeCase> {};

TEST_P(SizesTest, ThatDoNotFitAreRefusedHere) {
  FakeServer server;
  const auto client = Client::Create({.target = server.target()}).value();
  Bytes x(GetParam().x_bytes);
  Bytes y(GetParam().y_bytes);
  for (const Way way : {&Blocking, &Asynchronous}) {
    EXPECT_EQ(way(*client, Spec(DType::kFloat32, {2}), x, y, {}),
              absl::InvalidArgumentError(GetParam().message));
  }
  EXPECT_EQ(server.tries(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, SizesTest,
    ::testing::Values(SizeCase{"XShort", 7, 8, "x has 7 bytes, the tensor has 8"},
                      SizeCase{"XLong", 9, 8, "x has 9 bytes, the tensor has 8"},
                      SizeCase{"YShort", 8, 7, "y has 7 bytes, the tensor has 8"},
                      SizeCase{"YLong", 8, 9, "y has 9 bytes, the tensor has 8"}),
    [](const auto& info) { return info.param.name; });

// Whichever way they would go: what is written might be what was not read yet.
TEST(PlacesTest, ThatOverlapInPartAreRefusedHere) {
  FakeServer server;
  const auto client =
      Client::Create({.target = server.target(), .stream_above_bytes = 100}).value();
  Bytes memory(300);
  const auto at = [&memory](std::size_t begin, std::size_t bytes) {
    return std::span(memory).subspan(begin, bytes);
  };
  for (const std::size_t bytes : {8, 104}) {
    const TensorSpec spec = Spec(DType::kFloat32, {static_cast<std::int64_t>(bytes / 4)});
    for (const Way way : {&Blocking, &Asynchronous}) {
      for (const auto& [x, y] :
           {std::pair<std::size_t, std::size_t>(0, 1), {1, 0}, {0, bytes - 1}, {bytes - 1, 0}}) {
        EXPECT_EQ(way(*client, spec, at(x, bytes), at(y, bytes), {}),
                  absl::InvalidArgumentError("y overlaps x, but is not x"));
      }
    }
  }
  EXPECT_EQ(server.tries(), 0);
}

}  // namespace
}  // namespace trelu::testing
