// Random and mutated messages, with a fixed seed: the server's answers against a plain model of the
// protocol. Never a crash, never OK with wrong bytes, never a result too many or too few.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/e2e/bad_input.h"
#include "trelu/tensor_spec.h"

namespace trelu::testing {
namespace {

using Random = std::mt19937_64;

// What must come back for the messages of a stream.
struct Outcome {
  bool ok = false;
  std::vector<WireTensorCase> tensors;  // with the whole elements that were taken of each
};

// The protocol, by protobuf's own parser and without any hurry.
class Model {
 public:
  // False when the message is refused.
  bool Take(const std::string& message) {
    v1::ApplyRequest request;
    if (!request.ParseFromString(message)) return false;
    if (request.has_tensor()) {
      if (!AtBoundary() || !Begin(request)) return false;
    } else if (tensors_.empty() || request.has_alpha()) {
      return false;
    }
    WireTensorCase& tensor = begun_ ? *begun_ : tensors_.back();
    if (request.data().size() > bytes_ - tensor.data.size()) return false;
    tensor.data += request.data();
    if (begun_) tensors_.push_back(*std::exchange(begun_, std::nullopt));
    return true;
  }

  bool AtBoundary() const { return tensors_.empty() || tensors_.back().data.size() == bytes_; }

  Outcome End(bool ok) const {
    Outcome outcome{ok && !tensors_.empty() && AtBoundary(), {}};
    for (WireTensorCase tensor : tensors_) {
      const std::size_t elements = tensor.data.size() / ElementBytes(tensor.dtype);
      tensor.data.resize(elements * ElementBytes(tensor.dtype));
      if (elements > 0 || IsEmpty(tensor)) outcome.tensors.push_back(tensor);
    }
    return outcome;
  }

 private:
  static bool IsEmpty(const WireTensorCase& tensor) {
    return std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end();
  }

  bool Begin(const v1::ApplyRequest& request) {
    const auto dtype = DTypeFromOnnx(request.tensor().dtype());
    const auto& shape = request.tensor().shape();
    if (!dtype) return false;
    const auto spec =
        TensorSpec::Create(*dtype, {shape.data(), static_cast<std::size_t>(shape.size())});
    if (!spec.ok()) return false;
    begun_ = WireTensorCase{*dtype, {shape.begin(), shape.end()}, std::nullopt, {}};
    if (request.has_alpha()) begun_->alpha = request.alpha();
    bytes_ = spec->bytes();
    return true;
  }

  std::vector<WireTensorCase> tensors_;
  std::optional<WireTensorCase> begun_;
  std::uint64_t bytes_ = 0;
};

Outcome Predict(const std::vector<std::string>& messages) {
  Model model;
  for (const std::string& message : messages) {
    if (!model.Take(message)) return model.End(false);
  }
  return model.End(true);
}

std::string RandomBytes(Random& random, std::size_t most) {
  std::string bytes(random() % (most + 1), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

void Mutate(Random& random, std::string& message) {
  const std::size_t at = random() % (message.size() + 1);
  switch (random() % 7) {
    case 0:
      message = RandomBytes(random, 64);
      break;
    case 1:
      message.resize(at);
      break;
    case 2:
      message.insert(at, RandomBytes(random, 4));
      break;
    case 3:
      message.erase(at, 1 + random() % 4);
      break;
    case 4:
      message += message.substr(at);
      break;
    default:
      if (at < message.size()) message[at] = static_cast<char>(message[at] ^ (1 << random() % 8));
  }
}

class RandomInput : public ::testing::Test {
 protected:
  void CheckStream(const std::vector<std::string>& messages, int round) {
    const Outcome expected = Predict(messages);
    auto stream = client_.OpenStream();
    for (const std::string& message : messages) {
      if (!stream->Write(message)) break;
    }
    stream->WritesDone();
    const auto results = JoinResponses(stream->ReadAll());
    const grpc::Status status = stream->Finish();
    ASSERT_EQ(status.error_code(), expected.ok ? grpc::OK : grpc::INVALID_ARGUMENT)
        << "round " << round << ": " << status.error_message();
    ASSERT_TRUE(results) << "round " << round;
    ASSERT_EQ(results->size(), expected.tensors.size()) << "round " << round;
    for (std::size_t i = 0; i < results->size(); ++i) {
      ASSERT_TRUE(results->at(i).Is(expected.tensors[i], Expected(expected.tensors[i])))
          << "round " << round << " tensor " << i;
    }
    ++(expected.ok ? good_ : refused_);
  }

  InProcessServer server_;
  NativeClient client_{server_.target()};
  Random random_{20260717};
  int good_ = 0;
  int refused_ = 0;
};

TEST_F(RandomInput, Unary) {
  for (int round = 0; round < 10'000; ++round) {
    std::string message = ToRequest(RandomTensor(random_, 64)).SerializeAsString();
    for (std::uint64_t n = random_() % 4; n > 0; --n) Mutate(random_, message);
    const Answer answer = client_.Call(kApply, message);
    const Outcome expected = Predict({message});
    ASSERT_EQ(answer.status.error_code(), expected.ok ? grpc::OK : grpc::INVALID_ARGUMENT)
        << "round " << round << ": " << answer.status.error_message();
    ++(expected.ok ? good_ : refused_);
    if (!expected.ok) continue;
    const auto result = ParseResponse(answer.message);
    ASSERT_TRUE(result) << "round " << round;
    ASSERT_TRUE(result->Is(expected.tensors[0], Expected(expected.tensors[0])))
        << "round " << round;
  }
  // The mutations reach both sides.
  EXPECT_GT(good_, 1000);
  EXPECT_GT(refused_, 1000);
}

TEST_F(RandomInput, Stream) {
  for (int round = 0, sent = 0; sent < 10'000; ++round) {
    std::vector<std::string> messages;
    for (std::uint64_t tensors = random_() % 3; tensors > 0; --tensors) {
      for (const auto& chunk : ToChunks(RandomTensor(random_, 64), 1 + random_() % 40)) {
        messages.push_back(chunk.SerializeAsString());
      }
    }
    if (!messages.empty() && random_() % 3 != 0) {
      Mutate(random_, messages[random_() % messages.size()]);
    }
    if (!messages.empty() && random_() % 8 == 0) {
      std::swap(messages[random_() % messages.size()], messages[random_() % messages.size()]);
    }
    sent += static_cast<int>(messages.size());
    CheckStream(messages, round);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(good_, 100);
  EXPECT_GT(refused_, 100);
}

TEST_F(RandomInput, NothingButNoise) {
  for (int round = 0; round < 2'000; ++round) {
    std::vector<std::string> messages(1 + random_() % 3);
    for (std::string& message : messages) message = RandomBytes(random_, 300);
    CheckStream(messages, round);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace trelu::testing
