// The HTTP face for those who watch over us: /metrics, /livez, /readyz and /models for machines,
// the status page at / for people.
#ifndef TRELU_SERVER_ADMIN_HTTP_H_
#define TRELU_SERVER_ADMIN_HTTP_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <string>

namespace trelu::server {

// What the pages show. Called by several threads at once, until the AdminHttp is destroyed.
struct Probes {
  std::function<std::string()> metrics_text;  // in Prometheus' text format
  std::function<absl::Status()> live;         // OK: 200 "ok"; else 503 and the message
  std::function<absl::Status()> ready;        // likewise
  std::function<std::string()> models_json;   // server/models/model_list.h
};

// Answers GET and HEAD; at / with the status page when the request's Accept names text/html, as
// browsers' do, and with a list of the paths in plain text otherwise.
//
// 48 clients are served at a time. One that is silent, or takes nothing of its answer, holds its
// place for 1 s; n of them that come back whenever they are closed delay others by about n/48 s,
// and not at all below 48.
class AdminHttp {
 public:
  // Listens on "host:port" or "[v6]:port". UNAVAILABLE, naming the address and the reason, when
  // that fails (Debian's library has no IPv6); INVALID_ARGUMENT when the address cannot be read.
  static absl::StatusOr<std::unique_ptr<AdminHttp>> Start(const std::string& address,
                                                          Probes probes);
  // Stops; a client that takes nothing of its answer can hold this up for its 1 s.
  ~AdminHttp();
  AdminHttp(const AdminHttp&) = delete;
  AdminHttp& operator=(const AdminHttp&) = delete;

  // The address in use, with the port filled in.
  const std::string& address() const;

  // Begins to stop and returns at once; the destructor waits for the end. A second call does
  // nothing. Not from two threads at once.
  void BeginStop();

 private:
  struct State;
  explicit AdminHttp(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace trelu::server

#endif  // TRELU_SERVER_ADMIN_HTTP_H_
