#include "client/command/input_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <memory>
#include <string>
#include <thread>

#include "tests/command/files.h"

namespace trelu::command {
namespace {

using testing::HasSubstr;

// A pipe with a name, whose writer gives `bytes` and closes it.
class Pipe {
 public:
  explicit Pipe(const std::string& bytes) {
    mkfifo(folder_.Path("pipe").c_str(), 0600);
    writer_ = std::thread([this, bytes] { folder_.Write("pipe", bytes); });
    file_ = *InputFile::Open(folder_.Path("pipe"));
  }
  ~Pipe() { writer_.join(); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  const std::shared_ptr<InputFile>& file() const { return file_; }

 private:
  TemporaryFolder folder_;
  std::thread writer_;
  std::shared_ptr<InputFile> file_;
};

TEST(InputFile, SaysWhyItCannotBeOpened) {
  const TemporaryFolder folder;
  EXPECT_EQ(InputFile::Open(folder.Path("none")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(InputFile::Open(folder.Path("")).status().message()),
              HasSubstr("is a directory"));
}

TEST(InputFile, PeekedBytesAreReadOnce) {
  const TemporaryFolder folder;
  const auto file = *InputFile::Open(folder.Write("x", "abcdef"));
  EXPECT_EQ(file->BytesLeft(), 6U);
  EXPECT_EQ(file->Peek(4)->size(), 4U);
  EXPECT_EQ(file->Peek(2)->size(), 2U);
  EXPECT_EQ(file->BytesLeft(), 6U);
  std::string first(1, '\0');
  std::string rest(9, '\0');
  EXPECT_EQ(*file->Read(std::as_writable_bytes(std::span(first))), 1U);
  EXPECT_EQ(file->BytesLeft(), 5U);
  EXPECT_EQ(*file->Read(std::as_writable_bytes(std::span(rest))), 5U);
  EXPECT_EQ(first + rest.substr(0, 5), "abcdef");
  EXPECT_EQ(file->BytesLeft(), 0U);
  EXPECT_EQ(file->Peek(4)->size(), 0U);
}

TEST(RestOfFile, KnowsTheLengthOfAFileBeforeReading) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("x", "abcdef");
  EXPECT_TRUE(RestOfFile(*InputFile::Open(path), 6).ok());
  EXPECT_THAT(std::string(RestOfFile(*InputFile::Open(path), 5).status().message()),
              HasSubstr("data = 6 bytes: expected 5"));
  EXPECT_THAT(std::string(RestOfFile(*InputFile::Open(path), 7).status().message()),
              HasSubstr("data = 6 bytes: expected 7"));
}

TEST(RestOfFile, FindsTheLengthOfAPipeAtItsEnd) {
  {
    const Pipe pipe("abcdef");
    EXPECT_EQ(*ReadAll(*RestOfFile(pipe.file(), 6), 6, 4), "abcdef");
  }
  {
    const Pipe pipe("abcdef");
    EXPECT_THAT(std::string(ReadAll(*RestOfFile(pipe.file(), 9), 9, 4).status().message()),
                HasSubstr("data = 6 bytes: expected 9"));
  }
  {
    const Pipe pipe("abcdef");
    EXPECT_THAT(std::string(ReadAll(*RestOfFile(pipe.file(), 5), 5, 4).status().message()),
                HasSubstr("data = more than 5 bytes: expected 5"));
  }
  {
    const Pipe pipe("a");
    EXPECT_THAT(std::string(RestOfFile(pipe.file(), 0).status().message()),
                HasSubstr("data = more than 0 bytes"));
  }
}

TEST(SwapElements, SwapsInPiecesOfAnySize) {
  for (const std::size_t element : {2U, 4U, 8U}) {
    std::string given;
    std::string expected;
    for (std::size_t i = 0; i < 4; ++i) {
      std::string bytes;
      for (std::size_t j = 0; j < element; ++j) bytes += static_cast<char>('a' + i * element + j);
      given += bytes;
      expected += std::string(bytes.rbegin(), bytes.rend());
    }
    for (std::size_t step = 1; step <= given.size(); ++step) {
      const Client::Source source =
          SwapElements(FromMemory(std::make_shared<const std::string>(given)), element);
      EXPECT_EQ(*ReadAll(source, given.size(), step), expected) << element << " " << step;
    }
  }
}

}  // namespace
}  // namespace trelu::command
