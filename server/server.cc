#include "server/server.h"

#include <absl/strings/str_cat.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "core/worker_pool.h"
#include "server/address.h"
#include "server/admin_http.h"
#include "server/corridor.h"
#include "server/credentials.h"
#include "server/event_queue.h"
#include "server/gauges.h"
#include "server/health_service.h"
#include "server/inference/inference_service.h"
#include "server/info_service.h"
#include "server/listeners.h"
#include "server/log.h"
#include "server/machine.h"
#include "server/metrics.h"
#include "server/models/model_list.h"
#include "server/options_check.h"
#include "server/periodic_thread.h"
#include "server/reflection.h"
#include "server/thread_clock.h"
#include "server/thresholded_relu_service.h"
#include "server/transport.h"

namespace trelu::server {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// Puts numbers in the place of "automatic".
Options Resolve(Options options) {
  if (options.workers == 0) options.workers = AvailableCpus();
  if (options.max_inflight_bytes == 0) {
    options.max_inflight_bytes = std::clamp(AvailableMemoryBytes() / 4, 64 * kMiB, 4096 * kMiB);
  }
  if (options.max_shared_memory_bytes == 0) {
    options.max_shared_memory_bytes = AvailableMemoryBytes() / 2;
  }
  return options;
}

// Each may take a descriptor, and without one no connection can be accepted.
std::size_t MaxRegions() {
  constexpr std::uint64_t kMost = 1024;
  return static_cast<std::size_t>(std::min(kMost, FileLimit() / 4));
}

}  // namespace

struct Server::State {
  State(const Options& resolved, std::unique_ptr<Executor> workers_in)
      : workers(std::move(workers_in)),
        corridor(resolved, *workers, metrics),
        native(corridor),
        health(corridor),
        info(corridor),
        shared_memory(resolved.shared_memory_prefix,
                      {.max_regions = MaxRegions(), .max_bytes = resolved.max_shared_memory_bytes},
                      corridor.chores) {
    AddGauges(metrics, corridor, queue_clocks, shared_memory);
  }

  void StartTidying();
  absl::Status StartModels();
  absl::Status Ready();
  absl::Status StartAdmin();
  absl::Status StartGrpc();
  void Drain();
  void RefuseUntilQuiet() const;

  Metrics metrics;
  const std::unique_ptr<Executor> workers;
  Corridor corridor;
  ThresholdedReluService native;
  HealthService health;
  InfoService info;
  ModelCatalog models;
  SharedMemory shared_memory;
  std::optional<PeriodicThread> tidying;
  std::unique_ptr<ModelRepository> repository;
  std::optional<InferenceService> inference;
  // One queue, with its thread, for two processors: a connection belongs to one queue, and more
  // pollers only hand events over to each other. Scrapes read the clocks, which are there before
  // the queues.
  std::vector<ThreadClock> queue_clocks =
      std::vector<ThreadClock>(static_cast<std::size_t>(std::max(1, AvailableCpus() / 2)));
  std::vector<std::unique_ptr<EventQueue>> queues;
  std::unique_ptr<grpc::Server> grpc_server;
  std::unique_ptr<AdminHttp> admin;
  std::vector<std::string> addresses;
  std::string admin_address;

  enum class Phase { kServing, kDraining, kStopped };
  std::mutex mutex;
  std::condition_variable phase_changed;
  Phase phase = Phase::kServing;
  bool hurry = false;
};

// Clients that are killed cannot unregister what they had.
void Server::State::StartTidying() {
  if (!shared_memory.enabled()) return;
  tidying.emplace(std::chrono::seconds(2), [this] {
    const std::size_t regions = shared_memory.UnregisterAbandoned();
    if (regions == 0) return;
    Log(LogLevel::kInfo, "shared memory of clients that are gone unregistered",
        {{"regions", static_cast<std::int64_t>(regions)}});
  });
}

absl::Status Server::State::StartModels() {
  const Options& options = corridor.options;
  if (!options.model_repository.empty()) {
    auto started =
        ModelRepository::Start(options.model_repository, options.model_repository_poll, models);
    if (!started.ok()) return started.status();
    repository = *std::move(started);
  }
  inference.emplace(corridor, InferenceRooms{.models = models,
                                             .repository = repository.get(),
                                             .shared_memory = shared_memory,
                                             .serving = [this] { return health.serving(); }});
  return absl::OkStatus();
}

absl::Status Server::State::Ready() {
  if (health.serving()) return absl::OkStatus();
  const std::lock_guard lock(mutex);
  if (phase == Phase::kServing) return absl::UnavailableError("not serving: starting");
  return absl::UnavailableError(corridor.draining.load()
                                    ? "not serving: draining, new calls are refused"
                                    : "not serving: draining, calls are still taken");
}

absl::Status Server::State::StartAdmin() {
  const std::string& address = corridor.options.admin_listen;
  if (address.empty()) return absl::OkStatus();
  Probes probes;
  probes.metrics_text = [this] {
    return prometheus::TextSerializer().Serialize(metrics.Collect());
  };
  probes.live = [] { return absl::OkStatus(); };
  probes.ready = [this] { return Ready(); };
  probes.models_json = [this] {
    constexpr std::size_t kShownModels = 100;
    return ModelListJson(models.Index(/*only_ready=*/false), kShownModels);
  };
  auto started = AdminHttp::Start(address, std::move(probes));
  if (!started.ok()) return started.status();
  admin = *std::move(started);
  admin_address = admin->address();
  return absl::OkStatus();
}

absl::Status Server::State::StartGrpc() {
  const Options& options = corridor.options;
  auto credentials = MakeCredentials(options);
  if (!credentials.ok()) return credentials.status();
  grpc::ServerBuilder builder;
  ConfigureTransport(options, builder);
  SetReflection(builder, options.reflection);
  Listeners listeners(options.listen);
  if (absl::Status added = listeners.AddTo(builder, *credentials); !added.ok()) return added;
  builder.RegisterService(&native.service());
  builder.RegisterService(&health.service());
  builder.RegisterService(&info.service());
  builder.RegisterService(&inference->service());
  while (queues.size() < queue_clocks.size()) {
    queues.push_back(
        std::make_unique<EventQueue>(builder.AddCompletionQueue(), BusyPoll(options.busy_poll)));
  }
  grpc_server = builder.BuildAndStart();
  if (!grpc_server) return listeners.WhyNotStarted();
  addresses = listeners.Bound();
  for (std::size_t i = 0; i < queues.size(); ++i) {
    // A drain that comes before the thread has run must wait for it.
    auto starting = std::make_shared<LiveCount::Guard>(corridor.frames);
    EventQueue& queue = *queues[i];
    queue.Start(queue_clocks[i], [this, &queue, starting = std::move(starting)] {
      native.Accept(queue);
      health.Accept(queue);
      info.Accept(queue);
      inference->Accept(queue);
    });
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const Options& options,
                                                      std::unique_ptr<Executor> workers) try {
  if (absl::Status checked = CheckOptions(options, AvailableMemoryBytes()); !checked.ok()) {
    return checked;
  }
  const Options resolved = Resolve(options);
  if (!workers) workers = std::make_unique<WorkerPool>(resolved.workers);
  auto state = std::make_unique<State>(resolved, std::move(workers));
  // From here the destructor ends whatever has started.
  std::unique_ptr<Server> server(new Server(std::move(state)));
  server->state_->StartTidying();
  if (absl::Status models = server->state_->StartModels(); !models.ok()) return models;
  if (absl::Status admin = server->state_->StartAdmin(); !admin.ok()) return admin;
  if (absl::Status grpc = server->state_->StartGrpc(); !grpc.ok()) return grpc;
  server->state_->health.SetServing(true);
  return server;
} catch (const std::system_error& error) {
  // The one exception that reaches us: the system gives no more threads.
  return absl::ResourceExhaustedError(absl::StrCat("cannot start a thread: ", error.what()));
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Server::~Server() {
  HurryDrain();
  Drain();
}

const std::vector<std::string>& Server::addresses() const { return state_->addresses; }
const std::string& Server::admin_address() const { return state_->admin_address; }
int Server::calls_in_flight() const { return state_->corridor.calls.value(); }

void Server::HurryDrain() {
  const std::lock_guard lock(state_->mutex);
  state_->hurry = true;
  state_->phase_changed.notify_all();
}

void Server::Drain() {
  std::unique_lock lock(state_->mutex);
  if (state_->phase != State::Phase::kServing) {
    state_->phase_changed.wait(lock, [this] { return state_->phase == State::Phase::kStopped; });
    return;
  }
  state_->phase = State::Phase::kDraining;
  state_->health.SetServing(false);
  // Balancers and clients that watch health leave meanwhile, and nobody is refused.
  state_->phase_changed.wait_for(lock, state_->corridor.options.drain_delay,
                                 [this] { return state_->hurry; });
  lock.unlock();
  state_->Drain();
  lock.lock();
  state_->phase = State::Phase::kStopped;
  state_->phase_changed.notify_all();
}

// Goes on refusing until no call has come for a moment, so that a caller who has just been answered
// is told to go elsewhere, rather than killed.
void Server::State::RefuseUntilQuiet() const {
  constexpr auto kQuiet = std::chrono::milliseconds(50);
  constexpr int kAtMost = 10;
  std::uint64_t seen = corridor.calls.total();
  for (int i = 0; i < kAtMost; ++i) {
    std::this_thread::sleep_for(kQuiet);
    const std::uint64_t now = corridor.calls.total();
    if (now == seen) return;
    seen = now;
  }
}

// The order matters. A call that arrives after grpc::Server::Shutdown began is killed with
// CANCELLED, so new calls are refused by us before that; and a queue may be shut down only when no
// handler's frame, those that wait for a call included, can start another operation on it.
void Server::State::Drain() {
  corridor.draining.store(true);
  corridor.drain_news.Send();
  if (!corridor.calls.WaitForNone(corridor.options.drain_grace)) {
    corridor.time_is_up.store(true);
    corridor.drain_news.Send();
  }
  RefuseUntilQuiet();
  // Closing the HTTP server takes up to two seconds: beside the rest, not after it.
  if (admin) admin->BeginStop();
  health.EndWatches();
  if (grpc_server) {
    constexpr auto kForGoodbyes = std::chrono::seconds(2);
    grpc_server->Shutdown(std::chrono::system_clock::now() + kForGoodbyes);
    corridor.frames.WaitForNone();
  }
  for (auto& queue : queues) queue->Stop();
  grpc_server.reset();
  admin.reset();
}

}  // namespace trelu::server
