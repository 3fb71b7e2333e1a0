#include "server/admin_http.h"

#include <absl/time/clock.h>
#include <absl/time/time.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/server/admin_client.h"

namespace trelu::server {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(AdminHttpTest, ServesItsPages) {
  const auto admin = Start();
  const std::string metrics = Ask(*admin, "GET", "/metrics");
  EXPECT_THAT(metrics, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(metrics, HasSubstr("Content-Type: text/plain; version=0.0.4"));
  EXPECT_THAT(metrics, EndsWith("\r\n\r\nsome_metric 1\n"));
  for (const char* path : {"/livez", "/readyz"}) {
    EXPECT_THAT(Ask(*admin, "GET", path), StartsWith("HTTP/1.1 200 ")) << path;
    EXPECT_THAT(Ask(*admin, "GET", path), EndsWith("\r\n\r\nok\n")) << path;
  }
  const std::string models = Ask(*admin, "GET", "/models");
  EXPECT_THAT(models, HasSubstr("\r\nContent-Type: application/json\r\n"));
  EXPECT_THAT(models, EndsWith("\r\n\r\n{\"total\":0}\n"));
  EXPECT_THAT(Ask(*admin, "GET", "/livez?verbose"), StartsWith("HTTP/1.1 200 "));
}

TEST(AdminHttpTest, SaysWhyItIsNotReady) {
  Probes probes = HappyProbes();
  probes.ready = [] { return absl::UnavailableError("draining\nnow"); };
  const auto admin = Start(std::move(probes));
  EXPECT_THAT(Ask(*admin, "GET", "/readyz"), StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(Ask(*admin, "GET", "/readyz"), EndsWith("\r\n\r\ndraining\\x0anow\n"));
  EXPECT_THAT(Ask(*admin, "GET", "/livez"), StartsWith("HTTP/1.1 200 "));
}

TEST(AdminHttpTest, SaysWhyItIsNotLive) {
  Probes probes = HappyProbes();
  probes.live = [] { return absl::InternalError("stuck"); };
  const auto admin = Start(std::move(probes));
  EXPECT_THAT(Ask(*admin, "GET", "/livez"), StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(Ask(*admin, "GET", "/livez"), EndsWith("\r\n\r\nstuck\n"));
}

TEST(AdminHttpTest, AnswersHeadWithoutABody) {
  const auto admin = Start();
  const std::string answer = Ask(*admin, "HEAD", "/metrics");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 14\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
}

TEST(AdminHttpTest, RefusesOtherMethods) {
  const auto admin = Start();
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH"}) {
    const std::string answer = Ask(*admin, method, "/metrics");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 405 ")) << method;
    EXPECT_THAT(answer, HasSubstr("Allow: GET, HEAD\r\n")) << method;
  }
}

TEST(AdminHttpTest, KnowsNoOtherPath) {
  const auto admin = Start();
  for (const char* path : {"/metrics/", "/Metrics", "/../etc/passwd", "/%2e%2e/etc/passwd", "/x"}) {
    EXPECT_THAT(Ask(*admin, "GET", path), StartsWith("HTTP/1.1 404 ")) << path;
  }
}

TEST(AdminHttpTest, OutlivesNonsense) {
  const auto admin = Start();
  for (const std::string& request :
       {std::string("nonsense\r\n\r\n"), std::string("GET /livez\r\n\r\n"),
        std::string("GET /livez HTTP/9.9\r\n\r\n"), std::string("\0\0\0\0\r\n\r\n", 8),
        "GET /" + std::string(20000, 'a') + " HTTP/1.1\r\n\r\n"}) {
    EXPECT_THAT(Connection(admin->address()).Exchange(request), Not(HasSubstr("ok\n")));
  }
  EXPECT_THAT(Ask(*admin, "GET", "/livez"), StartsWith("HTTP/1.1 200 "));
}

TEST(AdminHttpTest, AnswersWhatItCannotReadAsItAnswersAllElse) {
  const auto admin = Start();
  const std::string answer = Connection(admin->address()).Exchange("GET /livez HTTP/9.9\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr(" 505 "));  // after the version that it was asked in
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Type: text/plain; charset=utf-8\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nX-Content-Type-Options: nosniff\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("<")));
}

TEST(AdminHttpTest, AnswersHeadWithoutABodyWhatItCannotRead) {
  const auto admin = Start();
  const std::string answer = Connection(admin->address()).Exchange("HEAD / HTTP/9.9\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr(" 505 "));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
}

TEST(AdminHttpTest, SaysWhenItAnswered) {
  const auto admin = Start();
  const absl::Time before = absl::Now() - absl::Seconds(1);  // a date has whole seconds
  for (const char* request : {"GET /livez HTTP/1.1\r\n\r\n", "nonsense\r\n\r\n"}) {
    const std::string answer = Connection(admin->address()).Exchange(request);
    const std::string name = "\r\nDate: ";
    const std::size_t at = answer.find(name);
    ASSERT_NE(at, std::string::npos) << answer;
    const std::string date = answer.substr(at + name.size(), 29);
    absl::Time time;
    std::string error;
    ASSERT_TRUE(absl::ParseTime("%a, %d %b %Y %H:%M:%S GMT", date, &time, &error)) << error << date;
    EXPECT_GT(time, before);
    EXPECT_LE(time, absl::Now());
    EXPECT_EQ(answer.find(name, at + 1), std::string::npos) << answer;
  }
}

TEST(AdminHttpTest, AnswersWhileFortyClientsHoldIt) {
  constexpr int kHolders = 40;
  constexpr std::chrono::seconds kLongest(30);  // not reached unless there is no room for them
  std::mutex mutex;
  std::condition_variable changed;
  int held = 0;
  bool done = false;
  // A silent client is held for a second only, which a slow machine takes to connect them all; one
  // whose answer takes its time is held for as long as the test likes.
  Probes probes = HappyProbes();
  probes.metrics_text = [&] {
    std::unique_lock lock(mutex);
    ++held;
    changed.notify_all();
    changed.wait_for(lock, kLongest, [&done] { return done; });
    return std::string();
  };
  const auto admin = Start(std::move(probes));
  std::vector<std::unique_ptr<Connection>> holders;
  for (int i = 0; i < kHolders; ++i) {
    holders.push_back(std::make_unique<Connection>(admin->address()));
    holders.back()->Send("GET /metrics HTTP/1.1\r\n\r\n");
  }
  bool all_held = false;
  {
    std::unique_lock lock(mutex);
    all_held = changed.wait_for(lock, kLongest, [&held] { return held == kHolders; });
    EXPECT_TRUE(all_held) << held;
  }
  if (all_held) {
    EXPECT_THAT(Ask(*admin, "GET", "/livez"), StartsWith("HTTP/1.1 200 "));
  }
  const std::lock_guard lock(mutex);
  EXPECT_EQ(held, kHolders);
  done = true;
  changed.notify_all();
}

TEST(AdminHttpTest, GivesUpClientsThatAreSilentOrNeverDone) {
  const auto admin = Start();
  for (const char* begun : {"", "GET /livez HTTP/1.1\r\nHost:"}) {
    EXPECT_THAT(Connection(admin->address()).Exchange(begun), Not(HasSubstr("200"))) << begun;
  }
}

TEST(AdminHttpTest, NamesAnAddressThatIsTaken) {
  const auto admin = Start();
  const absl::StatusOr<std::unique_ptr<AdminHttp>> second =
      AdminHttp::Start(admin->address(), HappyProbes());
  ASSERT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(admin->address()));
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("in use"));
}

TEST(AdminHttpTest, RefusesAnAddressItCannotRead) {
  for (const char* address : {"8002", "127.0.0.1:x", "unix:/tmp/x"}) {
    EXPECT_EQ(AdminHttp::Start(address, HappyProbes()).status().code(),
              absl::StatusCode::kInvalidArgument)
        << address;
  }
}

TEST(AdminHttpTest, ListensOnIpv6OrSaysThatItCannot) {
  const absl::StatusOr<std::unique_ptr<AdminHttp>> admin =
      AdminHttp::Start("[::1]:0", HappyProbes());
  if (admin.ok()) {
    EXPECT_THAT((*admin)->address(), StartsWith("[::1]:"));
    EXPECT_THAT((*admin)->address(), Not(EndsWith(":0")));
  } else {
    EXPECT_THAT(std::string(admin.status().message()), HasSubstr("[::1]:0"));
    EXPECT_THAT(std::string(admin.status().message()), HasSubstr("without IPv6"));
  }
}

TEST(AdminHttpTest, StopsOnceHoweverOftenItIsTold) {
  const auto admin = Start();
  admin->BeginStop();
  admin->BeginStop();
}

TEST(AdminHttpTest, FreesItsPortWhenItStops) {
  auto admin = Start();
  const std::string address = admin->address();
  admin.reset();
  EXPECT_TRUE(AdminHttp::Start(address, HappyProbes()).ok());
}

}  // namespace
}  // namespace trelu::server
