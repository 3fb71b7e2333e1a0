// Reading the admin port: a plain HTTP GET, and the numbers on /metrics.
#ifndef TRELU_TESTS_SUPPORT_METRICS_PAGE_H_
#define TRELU_TESTS_SUPPORT_METRICS_PAGE_H_

#include <map>
#include <string>
#include <utility>

namespace trelu::testing {

// The body of a 200 answer of "host:port"; throws for anything else.
std::string HttpGet(const std::string& address, const std::string& path);

// A page in Prometheus' text format.
class MetricsPage {
 public:
  explicit MetricsPage(std::string text);

  const std::string& text() const { return text_; }

  // Of a series as it is written: `trelu_rejected_total{reason="invalid"}`. 0 when there is none,
  // as a counter that nobody has touched may be left out.
  double Value(const std::string& series) const;
  bool Has(const std::string& series) const { return values_.contains(series); }

 private:
  std::string text_;
  std::map<std::string, double> values_;
};

}  // namespace trelu::testing

#endif  // TRELU_TESTS_SUPPORT_METRICS_PAGE_H_
