// What the page shows, from what the server said. No document here, so that Node can test it.

const RATE_WINDOW = 10;  // seconds that a rate or a percentile is of
const POLL_EVERY = 2;    // seconds
const GAP = 3 * POLL_EVERY;
const LONGEST_WAIT = 30;

// Seconds until the next question after so many failures in a row.
function waitAfter(failures) {
  return Math.min(POLL_EVERY * 2 ** Math.max(0, failures - 1), LONGEST_WAIT);
}

// {state, word, detail} of what /livez and /readyz answered, each {ok, text}.
function healthOf(live, ready) {
  if (!live.ok) return { state: "bad", word: "Not well", detail: live.text };
  if (ready.ok) return { state: "good", word: "Serving", detail: "New calls are welcome." };
  if (/\bdraining\b/.test(ready.text)) {
    const detail = /\bstill taken\b/.test(ready.text)
      ? "It still takes calls while callers turn elsewhere, then ends." : "It finishes what it has begun, then ends.";
    return { state: "warn", word: "Draining", detail };
  }
  return { state: "warn", word: "Not serving", detail: ready.text };
}

// What `text` of /models says; null when it is something else.
function modelsOf(text) {
  try {
    const list = JSON.parse(text);
    const isModel = (model) => ["name", "version", "state", "reason"].every((key) => typeof model[key] === "string");
    return [list.total, list.ready].every(Number.isInteger) && list.models.every(isModel) ? list : null;
  } catch {
    return null;
  }
}

// Blanks at the ends of a name are seen only between marks.
const shownName = (name) => name === name.trim() ? name : `"${name}"`;

// Null when either is unknown.
const shareOf = (part, whole) => part === null || !(whole > 0) ? null : part / whole;

// Streams last as long as the caller likes, and health checks are not what the server is for.
const isCall = (labels) => labels.grpc_service !== "grpc.health.v1.Health";
const isTimed = (labels) => labels.grpc_type === "unary" && isCall(labels);

// The numbers of one moment that charts draw; every one of them may be null. `scrapes` is a window.
function pointOf(scrapes) {
  const { at, samples } = scrapes[scrapes.length - 1];
  const handling = "grpc_server_handling_seconds";
  return {
    at,
    calls: rateOf(scrapes, "grpc_server_handled_total", isCall),
    p50: quantileOf(scrapes, 0.5, handling, isTimed),
    p90: quantileOf(scrapes, 0.9, handling, isTimed),
    p99: quantileOf(scrapes, 0.99, handling, isTimed),
    bytesIn: rateOf(scrapes, "trelu_request_bytes_sum"),
    bytesOut: rateOf(scrapes, "trelu_response_bytes_total"),
    inFlightCalls: valueOf(samples, "trelu_inflight_calls"),
    inFlightBytes: valueOf(samples, "trelu_inflight_bytes"),
    byMethod: ratesBy(scrapes, "grpc_server_handled_total", methodKey),
  };
}

const methodKey = (labels) => `${labels.grpc_service}/${labels.grpc_method}`;

// A row for each method that was called, by service and name, and how many were not.
function methodsOf(scrapes) {
  const { samples } = scrapes[scrapes.length - 1];
  const methods = new Map();
  for (const { labels, value } of samples.get("grpc_server_handled_total")?.values() ?? []) {
    const key = methodKey(labels);
    if (!methods.has(key)) methods.set(key, { key, labels, total: 0 });
    methods.get(key).total += value;
  }
  const rates = ratesBy(scrapes, "grpc_server_handled_total", methodKey);
  const called = [...methods.values()].filter(({ total }) => total > 0);
  const rows = called.map(({ key, labels, total }) => {
    const ofMethod = (other) => methodKey(other) === key;
    const at = (q) => quantileOf(scrapes, q, "grpc_server_handling_seconds", ofMethod);
    return {
      key, total,
      service: labels.grpc_service,
      method: labels.grpc_method,
      streams: labels.grpc_type !== "unary",
      rate: rates && (rates.get(key) ?? 0),
      p50: at(0.5), p90: at(0.9), p99: at(0.99),
    };
  });
  return { rows: rows.sort((a, b) => a.key < b.key ? -1 : 1), uncalled: methods.size - called.length };
}

// {key, rate, total} for each value of a label that counted anything since the start; most first.
function countsBy(scrapes, name, label, takes = () => true) {
  const { samples } = scrapes[scrapes.length - 1];
  const totals = new Map();
  for (const { labels, value } of samples.get(name)?.values() ?? []) {
    if (takes(labels)) totals.set(labels[label], (totals.get(labels[label]) ?? 0) + value);
  }
  const rates = ratesBy(scrapes, name, (labels) => takes(labels) ? labels[label] : null);
  return [...totals].filter(([, total]) => total > 0)
    .map(([key, total]) => ({ key, total, rate: rates && (rates.get(key) ?? 0) }))
    .sort((a, b) => b.total - a.total || (a.key < b.key ? -1 : 1));
}

const errorsOf = (scrapes) =>
  countsBy(scrapes, "grpc_server_handled_total", "grpc_code", (labels) => labels.grpc_code !== "OK");
const rejectionsOf = (scrapes) => countsBy(scrapes, "trelu_rejected_total", "reason");

// What is said once of the process. `now` is the server's clock, in seconds since 1970, or null.
function processOf(scrapes, now) {
  const { samples } = scrapes[scrapes.length - 1];
  const [info] = samples.get("trelu_build_info")?.values() ?? [];
  const start = valueOf(samples, "process_start_time_seconds");
  return {
    version: info?.labels.version ?? null,
    uptime: start === null || now === null ? null : now - start,
    processors: rateOf(scrapes, "process_cpu_seconds_total"),
    memory: valueOf(samples, "process_resident_memory_bytes"),
    files: valueOf(samples, "process_open_fds"),
    filesLimit: valueOf(samples, "process_max_fds"),
    budget: valueOf(samples, "trelu_inflight_limit_bytes"),
    slowest: topBoundOf(samples, "grpc_server_handling_seconds"),
  };
}
