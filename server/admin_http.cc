#include "server/admin_http.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>
#include <absl/strings/string_view.h>
#include <absl/time/clock.h>
#include <absl/time/time.h>
#include <civetweb.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "server/address.h"
#include "server/log.h"
#include "server/status_page/status_page.h"

namespace trelu::server {
namespace {

constexpr std::string_view kText = "text/plain; charset=utf-8";
constexpr std::string_view kMetrics = "text/plain; version=0.0.4; charset=utf-8";
constexpr std::string_view kJson = "application/json";
constexpr std::string_view kHtml = "text/html; charset=utf-8";
constexpr std::string_view kIndex =
    "trelu-server\n\n"
    "/         in a browser: how the server is and what it does\n"
    "/metrics  measurements, for Prometheus\n"
    "/livez    200 while the process works\n"
    "/readyz   200 while new calls are welcome\n"
    "/models   the models that requests can name, in JSON\n";

struct Page {
  int code;
  std::string_view type;
  std::string body;
  bool by_accept = false;  // another Accept header would have got another page
};

// "q=0": the type is not acceptable (RFC 9110, section 12.4.2).
bool IsZeroQuality(absl::string_view parameter) {
  parameter = absl::StripAsciiWhitespace(parameter);
  double quality = 1;
  return absl::StartsWithIgnoreCase(parameter, "q=") &&
         absl::SimpleAtod(parameter.substr(2), &quality) && quality == 0;
}

// Whether Accept (RFC 9110, section 12.5.1) names text/html; what merely covers it, such as */*, is
// what programs send.
bool WantsHtml(const mg_connection* connection) {
  const char* accept = mg_get_header(connection, "Accept");
  if (accept == nullptr) return false;
  for (const absl::string_view range : absl::StrSplit(accept, ',')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(range, ';');
    if (absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(parts.front()), "text/html")) {
      return std::none_of(parts.begin() + 1, parts.end(), IsZeroQuality);
    }
  }
  return false;
}

Page ProbePage(const absl::Status& status) {
  if (status.ok()) return {200, kText, "ok\n"};
  return {503, kText, Printable({status.message().data(), status.message().size()}, 512) + '\n'};
}

Page MakePage(const Probes& probes, std::string_view method, std::string_view path,
              bool wants_html) {
  if (method != "GET" && method != "HEAD") return {405, kText, "only GET and HEAD\n"};
  if (path == "/metrics") return {200, kMetrics, probes.metrics_text()};
  if (path == "/livez") return ProbePage(probes.live());
  if (path == "/readyz") return ProbePage(probes.ready());
  if (path == "/models") return {200, kJson, probes.models_json()};
  if (path == "/" && wants_html) return {200, kHtml, std::string(kStatusPage), true};
  if (path == "/") return {200, kText, std::string(kIndex), true};
  return {404, kText, "not found\n"};
}

// IMF-fixdate (RFC 9110, section 5.6.7).
std::string HttpDate(absl::Time time) {
  return absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT", time, absl::UTCTimeZone());
}

void Send(mg_connection* connection, const Page& page, bool with_body) {
  const auto add = [connection](const char* name, std::string_view value) {
    mg_response_header_add(connection, name, value.data(), static_cast<int>(value.size()));
  };
  mg_response_header_start(connection, page.code);
  // The library would add a date of its own, which its threads format in one place in memory.
  add("Date", HttpDate(absl::Now()));
  add("Content-Type", page.type);
  add("Content-Length", std::to_string(page.body.size()));
  add("Cache-Control", "no-store");
  add("X-Content-Type-Options", "nosniff");
  add("Connection", "close");
  if (page.code == 405) add("Allow", "GET, HEAD");
  if (page.by_accept) add("Vary", "Accept");
  if (page.type == kHtml) {
    add("Content-Security-Policy", kStatusPagePolicy);
    add("Referrer-Policy", "no-referrer");
  }
  mg_response_header_send(connection);
  if (with_body) mg_write(connection, page.body.data(), page.body.size());
}

}  // namespace

struct AdminHttp::State {
  Probes probes;
  std::string address;
  std::string host;
  int port = 0;
  mg_context* context = nullptr;
  std::thread stopper;

  // While the server starts, the library's complaint.
  std::mutex mutex;
  std::string complaint;
  bool started = false;

  void Stop() const;
  static int OnRequest(mg_connection* connection);
  // What the library itself refuses: requests that it cannot read.
  static int OnError(mg_connection* connection, int code, const char* message);
  static int OnMessage(const mg_connection* connection, const char* message);
};

int AdminHttp::State::OnRequest(mg_connection* connection) {
  const auto& state = *static_cast<State*>(mg_get_user_data(mg_get_context(connection)));
  const mg_request_info* request = mg_get_request_info(connection);
  const std::string_view method = request->request_method;
  const Page page = MakePage(state.probes, method, request->local_uri, WantsHtml(connection));
  Send(connection, page, method != "HEAD");
  return page.code;
}

int AdminHttp::State::OnError(mg_connection* connection, int code, const char* message) {
  constexpr int kHandled = 0;
  // Absent where not even the method could be read.
  const char* method = mg_get_request_info(connection)->request_method;
  Send(connection, {code, kText, Printable(message, 256) + '\n'},
       method == nullptr || std::string_view(method) != "HEAD");
  return kHandled;
}

int AdminHttp::State::OnMessage(const mg_connection* connection, const char* message) {
  auto& state = *static_cast<State*>(mg_get_user_data(mg_get_context(connection)));
  const std::lock_guard lock(state.mutex);
  if (state.started) {
    LogSometimes("admin-http", LogLevel::kWarning, message);
  } else {
    if (!state.complaint.empty()) state.complaint += "; ";
    state.complaint += Printable(message, 256);
  }
  return 1;
}

void AdminHttp::State::Stop() const {
  constexpr std::chrono::milliseconds kBetweenKnocks(10);
  const std::future<void> stopped = std::async(std::launch::async, mg_stop, context);
  // The thread that accepts connections looks at its stop flag every 2 s, or after a connection.
  while (stopped.wait_for(kBetweenKnocks) != std::future_status::ready) {
    std::array<char, 128> error{};
    mg_connection* knock = mg_connect_client(host.c_str(), port, 0, error.data(), error.size());
    if (knock == nullptr) break;
    mg_close_connection(knock);
  }
  stopped.wait();
}

AdminHttp::AdminHttp(std::unique_ptr<State> state) : state_(std::move(state)) {}

absl::StatusOr<std::unique_ptr<AdminHttp>> AdminHttp::Start(const std::string& address,
                                                            Probes probes) {
  absl::StatusOr<Address> parsed = ParseAddress(address);
  if (!parsed.ok()) return parsed.status();
  if (parsed->is_unix()) return absl::InvalidArgumentError(address + ": expected host:port");
  const bool v6 = parsed->host.find(':') != std::string::npos;
  if (v6 && mg_check_feature(MG_FEATURES_IPV6) == 0) {
    return absl::UnavailableError("cannot listen on " + address +
                                  ": the HTTP library here is built without IPv6");
  }
  auto state = std::make_unique<State>();
  state->probes = std::move(probes);
  mg_callbacks callbacks{};
  callbacks.begin_request = State::OnRequest;
  callbacks.http_error = State::OnError;
  callbacks.log_message = State::OnMessage;
  const std::string listening_ports = parsed->ToString();
  std::array<const char*, 11> settings = {
      "listening_ports", listening_ports.c_str(),
      // A connection holds a thread from its beginning, whether it asks or not. Each costs the
      // start of the server time, and containers are given as few as 100 threads altogether.
      "num_threads", "48", "request_timeout_ms", "1000", "enable_keep_alive", "no",
      "enable_directory_listing", "no", nullptr};
  state->context = mg_start(&callbacks, state.get(), settings.data());
  if (state->context == nullptr) {
    return absl::UnavailableError("cannot listen on " + address + ": " + state->complaint);
  }
  mg_server_port port{};
  if (mg_get_server_ports(state->context, 1, &port) == 1) {
    parsed->port = static_cast<std::uint16_t>(port.port);
  }
  state->address = parsed->ToString();
  state->host = parsed->host;
  state->port = parsed->port;
  {
    const std::lock_guard lock(state->mutex);
    state->started = true;
  }
  return std::unique_ptr<AdminHttp>(new AdminHttp(std::move(state)));
}

AdminHttp::~AdminHttp() {
  BeginStop();
  state_->stopper.join();
}

const std::string& AdminHttp::address() const { return state_->address; }

void AdminHttp::BeginStop() {
  if (state_->stopper.joinable()) return;
  state_->stopper = std::thread([state = state_.get()] { state->Stop(); });
}

}  // namespace trelu::server
