#include "server/event_queue.h"

#include <gtest/gtest.h>

#include <grpcpp/server_builder.h>

#include <chrono>
#include <functional>
#include <future>
#include <utility>
#include <vector>

namespace trelu::server {
namespace {

class Recorded final : public Event {
 public:
  explicit Recorded(std::function<void()> then) : then_(std::move(then)) {}

 private:
  void Fire(bool) override { then_(); }
  std::function<void()> then_;
};

// A queue outside any server, polling in its ways.
class EventQueueTest : public testing::TestWithParam<std::chrono::microseconds> {
 protected:
  EventQueueTest() {
    queue_ = std::make_unique<EventQueue>(builder_.AddCompletionQueue(), BusyPoll(GetParam()));
    server_ = builder_.BuildAndStart();
  }
  ~EventQueueTest() override {
    server_->Shutdown();
    queue_->Stop();
  }

  ThreadClock clock_;
  grpc::ServerBuilder builder_;
  std::unique_ptr<EventQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
};

TEST_P(EventQueueTest, WhatWaitsForALullComesAfterWhatIsReady) {
  std::vector<int> order;
  std::promise<void> done;
  grpc::Alarm first_alarm;
  grpc::Alarm second_alarm;
  Recorded lull([&] {
    order.push_back(3);
    done.set_value();
  });
  Recorded first([&] { order.push_back(1); });
  Recorded second([&] { order.push_back(2); });
  queue_->Start(clock_, [&] {
    queue_->WhenIdle(lull);
    queue_->Post(first_alarm, first);
    queue_->Post(second_alarm, second);
  });
  done.get_future().wait();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST_P(EventQueueTest, WhatWaitsForALullIsNotForgottenWhenNoneComes) {
  int events = 0;
  bool stop = false;
  std::promise<int> seen;
  std::promise<void> ended;
  grpc::Alarm alarm;
  std::function<void()> again;
  // The next event is ready whenever one has been dealt with.
  Recorded busy([&] { again(); });
  again = [&] {
    ++events;
    if (stop) {
      ended.set_value();
    } else {
      queue_->Post(alarm, busy);
    }
  };
  Recorded lull([&] {
    seen.set_value(events);
    stop = true;
  });
  queue_->Start(clock_, [&] {
    queue_->WhenIdle(lull);
    queue_->Post(alarm, busy);
  });
  EXPECT_LE(seen.get_future().get(), 33);
  ended.get_future().wait();
}

TEST_P(EventQueueTest, WakesForAnEventAfterSilence) {
  std::promise<void> ready;
  std::promise<void> woken;
  grpc::Alarm alarm;
  Recorded event([&] { woken.set_value(); });
  queue_->Start(clock_, [&] { ready.set_value(); });
  ready.get_future().wait();
  queue_->Post(alarm, event);
  woken.get_future().wait();
}

TEST_P(EventQueueTest, MeasuresItsThreadAndNoOther) {
  constexpr double kWork = 0.02;
  const auto use_processor = [](const ThreadClock& clock) {
    const double begun = clock.Read().ran;
    while (clock.Read().ran < begun + kWork) {
    }
  };
  EXPECT_EQ(clock_.Read().ran, 0);
  std::promise<void> worked;
  std::promise<void> may_go_on;
  std::promise<void> woken;
  grpc::Alarm alarm;
  Recorded event([&] { woken.set_value(); });
  queue_->Start(clock_, [&] {
    use_processor(clock_);
    worked.set_value();
    may_go_on.get_future().wait();
  });
  worked.get_future().wait();
  const double while_running = clock_.Read().ran;
  EXPECT_GE(while_running, kWork);
  {
    ThreadClock own;
    const ThreadClock::Scope measured(own);
    use_processor(own);
  }
  EXPECT_LT(clock_.Read().ran, while_running + kWork);
  may_go_on.set_value();
  queue_->Post(alarm, event);
  woken.get_future().wait();
  server_->Shutdown();
  queue_->Stop();
  const ThreadTime ended = clock_.Read();
  EXPECT_GE(ended.ran, while_running);
  EXPECT_EQ(clock_.Read().ran, ended.ran);
  EXPECT_EQ(clock_.Read().waited, ended.waited);
}

INSTANTIATE_TEST_SUITE_P(Polling, EventQueueTest,
                         testing::Values(std::chrono::microseconds(0),
                                         std::chrono::microseconds(200)),
                         [](const auto& row) {
                           return row.param.count() == 0 ? "Asleep" : "Busy";
                         });

}  // namespace
}  // namespace trelu::server
