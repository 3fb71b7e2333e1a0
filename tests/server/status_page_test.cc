// The page at / as a browser gets it, and what it allows itself.
#include "server/status_page/status_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <string>

#include "tests/server/admin_client.h"

namespace trelu::server {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// What Chromium sends when someone types the address.
constexpr char kBrowser[] =
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8\r\n";

// Of an answer; empty when there is none.
std::string Header(const std::string& answer, const std::string& name) {
  const std::size_t at = answer.find("\r\n" + name + ": ");
  if (at == std::string::npos || at > answer.find("\r\n\r\n")) return {};
  const std::size_t begin = at + name.size() + 4;
  return answer.substr(begin, answer.find("\r\n", begin) - begin);
}

std::string Body(const std::string& answer) { return answer.substr(answer.find("\r\n\r\n") + 4); }

std::string Between(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t begin = text.find(from) + from.size();
  return text.substr(begin, text.find(to, begin) - begin);
}

// As a policy names what it allows (Content Security Policy Level 3, section 2.3.1).
std::string HashSource(const std::string& text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::array<unsigned char, 4 * ((SHA256_DIGEST_LENGTH + 2) / 3) + 1> base64{};
  const int size = EVP_EncodeBlock(base64.data(), digest.data(), SHA256_DIGEST_LENGTH);
  return "'sha256-" + std::string(base64.begin(), base64.begin() + size) + "'";
}

TEST(StatusPageTest, BrowsersGetIt) {
  const auto admin = Start();
  const std::string answer = Ask(*admin, "GET", "/", kBrowser);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(Header(answer, "Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(Header(answer, "Content-Length"), std::to_string(kStatusPage.size()));
  EXPECT_EQ(Body(answer), kStatusPage);
  EXPECT_THAT(Body(answer), StartsWith("<!doctype html>\n"));
  EXPECT_THAT(Body(answer), EndsWith("</html>\n"));
}

TEST(StatusPageTest, WhoeverNamesHtmlGetsIt) {
  const auto admin = Start();
  for (const char* accept : {"text/html", "TEXT/HTML", "text/plain, text/html;q=0.1",
                             "*/* , text/html ; q=1", "text/html;level=0", "text/html;q=wrong"}) {
    const std::string answer = Ask(*admin, "GET", "/", "Accept: " + std::string(accept) + "\r\n");
    EXPECT_EQ(Header(answer, "Content-Type"), "text/html; charset=utf-8") << accept;
  }
}

TEST(StatusPageTest, OthersGetTheListOfPaths) {
  const auto admin = Start();
  for (const char* headers :
       {"", "Accept: */*\r\n", "Accept: text/plain\r\n", "Accept: xtext/htmlx\r\n",
        "Accept: text/html5\r\n", "Accept: text/plain;x=text/html\r\n", "Accept: text/html;q=0\r\n",
        "Accept: */*, text/html ; Q=0.000\r\n", "Accept: text/html;level=1;q=0\r\n"}) {
    const std::string answer = Ask(*admin, "GET", "/", headers);
    EXPECT_EQ(Header(answer, "Content-Type"), "text/plain; charset=utf-8") << headers;
    EXPECT_EQ(Header(answer, "Vary"), "Accept") << headers;
    for (const char* path : {"/metrics", "/livez", "/readyz", "/models"}) {
      EXPECT_THAT(Body(answer), HasSubstr(std::string("\n") + path + " ")) << headers;
    }
  }
}

TEST(StatusPageTest, HeadSaysTheSameWithoutTheBody) {
  const auto admin = Start();
  const std::string head = Ask(*admin, "HEAD", "/", kBrowser);
  const std::string get = Ask(*admin, "GET", "/", kBrowser);
  EXPECT_THAT(head, EndsWith("\r\n\r\n"));
  for (const char* name : {"Content-Type", "Content-Length", "Content-Security-Policy",
                           "Referrer-Policy", "X-Content-Type-Options", "Cache-Control", "Vary"}) {
    EXPECT_NE(Header(get, name), "") << name;
    EXPECT_EQ(Header(head, name), Header(get, name)) << name;
  }
}

TEST(StatusPageTest, ItsPolicyAllowsItsOwnStyleAndScriptAndNothingElse) {
  const auto admin = Start();
  const std::string answer = Ask(*admin, "GET", "/", kBrowser);
  const std::string page = Body(answer);
  EXPECT_EQ(Header(answer, "Content-Security-Policy"),
            "default-src 'none'; script-src " + HashSource(Between(page, "<script>", "</script>")) +
                "; style-src " + HashSource(Between(page, "<style>", "</style>")) +
                "; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
                "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'");
  EXPECT_EQ(Header(answer, "X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(Header(answer, "Referrer-Policy"), "no-referrer");
  EXPECT_EQ(Header(answer, "Cache-Control"), "no-store");
  EXPECT_EQ(Header(answer, "Vary"), "Accept");
}

TEST(StatusPageTest, HoldsAllThatItNeeds) {
  const std::string page(kStatusPage);
  EXPECT_THAT(page, Not(HasSubstr("https:")));
  EXPECT_THAT(page, Not(HasSubstr("<script src")));
  EXPECT_THAT(page, Not(HasSubstr("stylesheet")));
  EXPECT_THAT(page, Not(HasSubstr(" style=")));
  EXPECT_THAT(page, Not(HasSubstr("@import")));
  EXPECT_THAT(page, Not(HasSubstr("url(")));
  EXPECT_THAT(page, Not(HasSubstr("@STYLE@")));
  EXPECT_THAT(page, Not(HasSubstr("@SCRIPT@")));
  // Each part of the script, in it once.
  for (const char* function : {"parseExposition", "quantileOfBuckets", "scaled", "pointOf",
                               "linePath", "setRows", "poll"}) {
    const std::string definition = std::string("function ") + function + "(";
    EXPECT_THAT(page, HasSubstr(definition));
    EXPECT_EQ(page.find(definition), page.rfind(definition)) << function;
  }
}

TEST(StatusPageTest, IsAtOnePathAlone) {
  const auto admin = Start();
  for (const char* path : {"/index.html", "/status", "/page.js", "/page.css", "/favicon.ico"}) {
    const std::string answer = Ask(*admin, "GET", path, kBrowser);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 404 ")) << path;
    EXPECT_EQ(Header(answer, "X-Content-Type-Options"), "nosniff") << path;
  }
  EXPECT_EQ(Body(Ask(*admin, "GET", "/?from=mail", kBrowser)), kStatusPage);
  EXPECT_THAT(Ask(*admin, "POST", "/", kBrowser), StartsWith("HTTP/1.1 405 "));
}

// A browser that is shown another path must take it for what it is.
TEST(StatusPageTest, OtherPathsStayWhatTheyAreForABrowserToo) {
  const auto admin = Start();
  const std::string answer = Ask(*admin, "GET", "/metrics", kBrowser);
  EXPECT_THAT(Header(answer, "Content-Type"), StartsWith("text/plain; version=0.0.4"));
  EXPECT_EQ(Header(answer, "X-Content-Type-Options"), "nosniff");
}

}  // namespace
}  // namespace trelu::server
