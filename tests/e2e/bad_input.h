// What every test of bad input asserts besides the answer: nobody else is harmed and nothing is
// left.
#ifndef TRELU_TESTS_E2E_BAD_INPUT_H_
#define TRELU_TESTS_E2E_BAD_INPUT_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/in_process_server.h"
#include "tests/support/native_client.h"
#include "tests/support/wire_tensor.h"

namespace trelu::testing {

// A server, a client, and beside the bad calls a canary: a stream on the same connection that was
// there before them and must work until the end. A connection that breaks takes it along.
class BadInput : public ::testing::Test {
 protected:
  explicit BadInput(const server::Options& options = TestOptions());

  void SetUp() override;
  // Checks that nothing is left of the bad calls, and that `rejected` rose by what ExpectRefused
  // saw.
  void TearDown() override;

  // `status` has the code, and a message that is short, printable and holds all of `named`.
  void ExpectRefused(const std::string& name, const grpc::Status& status, grpc::StatusCode code,
                     const std::vector<std::string>& named);
  // The canary, and a unary call on the same connection, give the right bytes.
  void ExpectOthersUnharmed(const std::string& name);

  // Sends the messages on a stream of its own until one is refused; the responses are ignored.
  grpc::Status Stream(const std::vector<std::string>& messages, const Prepare& prepare = nullptr);

  double Rejected(const std::string& reason) const;

  InProcessServer server_;
  NativeClient client_;
  // What the server should have counted: by default one `invalid` for each ExpectRefused.
  int expected_invalid_ = 0;

 private:
  std::unique_ptr<RawStream> canary_;
  int files_before_ = 0;
};

// A float32 tensor of two elements, which is right in every way.
WireTensorCase GoodTensor();

// Open descriptors of this process.
int OpenFiles();

}  // namespace trelu::testing

#endif  // TRELU_TESTS_E2E_BAD_INPUT_H_
