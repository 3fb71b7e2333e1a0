// What `trelu info` shows, as text and as JSON.
#ifndef TRELU_CLIENT_COMMAND_INFO_REPORT_H_
#define TRELU_CLIENT_COMMAND_INFO_REPORT_H_

#include <chrono>
#include <string>

#include "trelu/client.h"

namespace trelu::command {

struct InfoReport {
  std::string target;
  ServerInfo server{};
  std::string health{};  // "SERVING", as `trelu health` prints it
  std::chrono::nanoseconds round_trip{};
  std::string client_version;
};

// A line for each figure, aligned.
std::string FormatInfo(const InfoReport& report);

std::string ToJson(const InfoReport& report);

}  // namespace trelu::command

#endif  // TRELU_CLIENT_COMMAND_INFO_REPORT_H_
