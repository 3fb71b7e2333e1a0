// What the status page reckons, on the files that make the page.
//
//   node --test tests/status_page/logic_test.mjs
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import vm from "node:vm";

const page = vm.createContext({});
for (const name of ["exposition.js", "rates.js", "units.js", "view.js", "chart.js", "tables.js"]) {
  const file = new URL(`../../server/status_page/${name}`, import.meta.url);
  vm.runInContext(readFileSync(file, "utf8"), page, { filename: file.pathname });
}
// Top-level functions and constants of the page, by name; what they return is of another realm,
// hence `plain`.
const of = (name) => vm.runInContext(name, page);
const plain = (value) => JSON.parse(JSON.stringify(value, (_, v) =>
  v === Infinity ? "Infinity" : v instanceof of("Map") ? Object.fromEntries(v) : v));

const scrape = (at, text) => ({ at, samples: of("parseExposition")(text) });
const started = (time) => `process_start_time_seconds ${time}\n`;

test("the text format: names, labels, escapes, numbers, comments, timestamps", () => {
  const samples = of("parseExposition")([
    "# HELP a_total Text with {braces} and 1",
    "# TYPE a_total counter",
    'a_total{x="1",y="q\\"uo\\\\te\\nd"} 3',
    'a_total{x="}",} 4 1700000000000',
    "plain 1.5e-05",
    'h_bucket{le="+Inf"} +Inf',
    "nan NaN",
    "wrong one two three",
    "",
  ].join("\n"));
  assert.deepEqual(plain([...samples.get("a_total").values()]), [
    { labels: { x: "1", y: 'q"uo\\te\nd' }, value: 3 }, { labels: { x: "}" }, value: 4 }]);
  assert.equal(of("valueOf")(samples, "plain"), 1.5e-05);
  assert.deepEqual(plain([...samples.get("h_bucket").values()]), [{ labels: { le: "+Inf" }, value: null }], "is not finite");
  assert.equal(of("valueOf")(samples, "nan"), null);
  assert.equal(of("valueOf")(samples, "none"), null);
  assert.deepEqual([...samples.keys()], ["a_total", "plain", "h_bucket", "nan"]);
});

test("a rate is the rise over the time between first and last scrape", () => {
  const scrapes = [scrape(10, "c 100\n"), scrape(12, "c 150\n"), scrape(15, "c 200\n")];
  assert.equal(of("rateOf")(scrapes, "c"), 20);
  assert.equal(of("rateOf")(scrapes.slice(2), "c"), null, "one scrape says nothing of time");
  assert.equal(of("rateOf")(scrapes, "none"), 0);
});

for (const [name, texts, rise] of [
  ["a counter that falls began anew", ["c 100\n", "c 150\n", "c 30\n", "c 40\n"], 50 + 30 + 10],
  ["a new process begins at zero, however far it has got",
    [`${started(1)}c 100\n`, `${started(1)}c 110\n`, `${started(2)}c 500\n`], 10 + 500],
  ["a series that was not there was at zero", ["d 1\n", "c 7\n", "c 9\n"], 9],
  ["one that stands still does not rise", ["c 5\n", "c 5\n"], 0],
  ["what is no number is passed over", ["c 5\n", "c NaN\n", "c +Inf\n", "c 8\n"], 3],
  ["what begins with no number is not counted from zero", ["c NaN\n", "c 500\n", "c 501\n"], 1],
  ["a start time that is no number is no restart", [`${started(1)}c 5\n`, `${started("NaN")}c 6\n`, `${started(1)}c 7\n`], 2],
]) {
  test(name, () => {
    assert.equal(of("riseOf")(texts.map((text, i) => scrape(i, text)), "c", ""), rise);
  });
}

test("rises by label add up what has the same one", () => {
  const text = (a, b, c) => `n{m="x",k="1"} ${a}\nn{m="x",k="2"} ${b}\nn{m="y",k="1"} ${c}\n`;
  const scrapes = [scrape(0, text(0, 10, 0)), scrape(2, text(4, 16, 1))];
  assert.deepEqual(plain(of("ratesBy")(scrapes, "n", (labels) => labels.m)), { x: 5, y: 0.5 });
  assert.equal(of("rateOf")(scrapes, "n", (labels) => labels.k === "2"), 3);
});

test("the window holds so many seconds, and nothing from before a silence", () => {
  const at = (...times) => times.map((time) => ({ at: time }));
  const window = (times, ...rest) => plain(of("windowOf")(at(...times), ...rest)).map((each) => each.at);
  assert.deepEqual(window([0, 2, 4, 6, 8, 10, 12], 10, 6), [2, 4, 6, 8, 10, 12]);
  assert.deepEqual(window([0, 2, 9, 11], 10, 6), [9, 11]);
  assert.deepEqual(window([0, 2, 12], 10, 6), [12]);
  assert.deepEqual(window([5], 10, 6), [5]);
});

// The expectations are what Prometheus 2.42's histogram_quantile says of such buckets.
const buckets = (...pairs) => pairs.map(([le, count]) => ({ le, count }));
for (const [name, q, given, expected] of [
  ["within a bucket, in proportion", 0.5, buckets([1, 0], [2, 10], [4, 20], [Infinity, 20]), 2],
  ["in the upper bucket", 0.9, buckets([1, 0], [2, 10], [4, 20], [Infinity, 20]), 3.6],
  ["the lowest bucket begins at zero", 0.5, buckets([1, 10], [2, 10], [Infinity, 10]), 0.5],
  ["above the highest bound", 0.99, buckets([1, 10], [2, 10], [Infinity, 20]), 2],
  ["all in the last finite bucket", 0.99, buckets([1, 0], [2, 100], [Infinity, 100]), 1.99],
  ["buckets in any order", 0.9, buckets([Infinity, 20], [4, 20], [1, 0], [2, 10]), 3.6],
  ["a bucket that is behind the one below it", 0.55, buckets([1, 10], [2, 8], [4, 12], [Infinity, 20]), 3],
  ["nothing observed", 0.5, buckets([1, 0], [2, 0], [Infinity, 0]), null],
  ["no bucket for all", 0.5, buckets([1, 5], [2, 10]), null],
  ["no buckets", 0.5, [], null],
]) {
  test(`a percentile ${name}`, () => {
    assert.equal(of("quantileOfBuckets")(q, given), expected);
  });
}

const histogram = (method, type, counts) => [["0.001", 0], ["0.01", 1], ["+Inf", 2]].map(([le, i]) =>
  `grpc_server_handling_seconds_bucket{grpc_type="${type}",grpc_service="s",grpc_method="${method}",le="${le}"} ${counts[i]}\n`)
  .join("");

test("latency is of what was observed in the window, of unary calls, all methods together", () => {
  const scrapes = [
    scrape(0, histogram("A", "unary", [1000, 1000, 1000]) + histogram("B", "unary", [0, 0, 0]) + histogram("S", "bidi_stream", [0, 0, 0])),
    scrape(2, histogram("A", "unary", [1000, 1010, 1010]) + histogram("B", "unary", [10, 10, 10]) + histogram("S", "bidi_stream", [0, 0, 99])),
  ];
  const point = of("pointOf")(scrapes);
  assert.equal(point.p50, 0.001);
  assert.ok(Math.abs(point.p90 - 0.0082) < 1e-12, `${point.p90}`);
  assert.equal(of("pointOf")(scrapes.slice(1)).p50, null);
  assert.equal(of("topBoundOf")(scrapes[0].samples, "grpc_server_handling_seconds"), 0.01);
});

const handled = (service, method, code, value, type = "unary") =>
  `grpc_server_handled_total{grpc_type="${type}",grpc_service="${service}",grpc_method="${method}",grpc_code="${code}"} ${value}\n`;

test("payload in and out, and what is in flight now", () => {
  const text = (bytesIn, bytesOut) => `trelu_request_bytes_sum ${bytesIn}\ntrelu_response_bytes_total ${bytesOut}\n` +
    `trelu_inflight_bytes ${bytesIn}\ntrelu_inflight_calls 3\n`;
  const { bytesIn, bytesOut, inFlightBytes, inFlightCalls } = of("pointOf")([scrape(0, text(0, 0)), scrape(2, text(10, 4))]);
  assert.deepEqual([bytesIn, bytesOut, inFlightBytes, inFlightCalls], [5, 2, 10, 3]);
});

test("what is not finite makes no point, and no share of the budget", () => {
  const text = "trelu_request_bytes_sum NaN\ntrelu_inflight_bytes NaN\ntrelu_inflight_calls +Inf\ntrelu_inflight_limit_bytes NaN\n";
  const scrapes = [scrape(0, text), scrape(2, text)];
  const point = of("pointOf")(scrapes);
  assert.deepEqual([point.bytesIn, point.inFlightBytes, point.inFlightCalls], [0, null, null]);
  assert.equal(of("processOf")(scrapes, 5).budget, null);
  const share = of("shareOf");
  assert.deepEqual([share(1, 4), share(0, 4), share(null, 4), share(1, null), share(1, 0)], [0.25, 0, null, null, null]);
});

test("the list of models, and nothing else", () => {
  const model = { name: "a", version: "1", state: "READY", reason: "" };
  const list = { total: 2, ready: 1, models: [model] };
  assert.deepEqual(plain(of("modelsOf")(JSON.stringify(list))), list);
  for (const other of ["", "ok", "null", "[]", "3", "{}", JSON.stringify({ ...list, total: "2" }), JSON.stringify({ ...list, models: {} }),
    JSON.stringify({ ...list, ready: undefined }), JSON.stringify({ ...list, models: [null] }),
    JSON.stringify({ ...list, models: [{ ...model, state: undefined }] })]) {
    assert.equal(of("modelsOf")(other), null, other);
  }
});

test("blanks at the ends of a name are seen", () => {
  assert.deepEqual(["a b", " a", "a ", " "].map((name) => of("shownName")(name)), ["a b", '" a"', '"a "', '" "']);
});

test("methods: those that were called, by name, with all codes; the others counted", () => {
  const before = handled("s", "B", "OK", 0) + handled("s", "A", "OK", 5) + handled("r", "C", "OK", 0);
  const after = handled("s", "B", "OK", 2, "bidi_stream") + handled("s", "A", "OK", 9) + handled("s", "A", "Internal", 4) + handled("r", "C", "OK", 0);
  const { rows, uncalled } = of("methodsOf")([scrape(0, before), scrape(2, after)]);
  assert.deepEqual(plain(rows).map(({ key, total, rate, streams, p50 }) => [key, total, rate, streams, p50]),
    [["s/A", 13, 4, false, null], ["s/B", 2, 1, true, null]]);
  assert.equal(uncalled, 1);
});

test("calls a second leave health checks out; errors count every method", () => {
  const before = handled("s", "A", "OK", 0) + handled("grpc.health.v1.Health", "Check", "OK", 0);
  const after = handled("s", "A", "OK", 8) + handled("s", "A", "NotFound", 2) +
    handled("grpc.health.v1.Health", "Check", "OK", 50) + handled("grpc.health.v1.Health", "Check", "NotFound", 1);
  const scrapes = [scrape(0, before), scrape(2, after)];
  assert.equal(of("pointOf")(scrapes).calls, 5);
  assert.deepEqual(plain(of("errorsOf")(scrapes)), [{ key: "NotFound", total: 3, rate: 1.5 }]);
});

test("rejections: what happened since the start, most first", () => {
  const text = (idle, invalid, budget) => `trelu_rejected_total{reason="idle"} ${idle}\n` +
    `trelu_rejected_total{reason="invalid"} ${invalid}\ntrelu_rejected_total{reason="over_budget"} ${budget}\n`;
  assert.deepEqual(plain(of("rejectionsOf")([scrape(0, text(0, 3, 0)), scrape(4, text(0, 3, 8))])),
    [{ key: "over_budget", total: 8, rate: 2 }, { key: "invalid", total: 3, rate: 0 }]);
});

test("the process, by the server's own clock", () => {
  const text = 'trelu_build_info{version="1.2.3",grpc="1.51.1"} 1\nprocess_start_time_seconds 1000\n' +
    "process_cpu_seconds_total 5\ntrelu_inflight_limit_bytes 64\n";
  const process = of("processOf")([scrape(0, text), scrape(2, text.replace("total 5", "total 6"))], 1090);
  assert.deepEqual([process.version, process.uptime, process.processors, process.budget, process.memory],
    ["1.2.3", 90, 0.5, 64, null]);
});

for (const [name, live, ready, state, word, detail] of [
  ["serving", [true, "ok"], [true, "ok"], "good", "Serving", /welcome/],
  ["about to drain", [true, "ok"], [false, "not serving: draining, calls are still taken"], "warn", "Draining", /still takes calls/],
  ["draining", [true, "ok"], [false, "not serving: draining, new calls are refused"], "warn", "Draining", /finishes what it has begun/],
  ["starting", [true, "ok"], [false, "not serving: starting"], "warn", "Not serving", /starting/],
  ["ill", [false, "stuck"], [true, "ok"], "bad", "Not well", /^stuck$/],
]) {
  test(`health: ${name}`, () => {
    const answer = ([ok, text]) => ({ ok, text });
    const health = of("healthOf")(answer(live), answer(ready));
    assert.deepEqual([health.state, health.word], [state, word]);
    assert.match(health.detail, detail);
  });
}

test("waits grow to half a minute", () => {
  assert.deepEqual([1, 2, 3, 4, 5, 6, 100].map((failures) => of("waitAfter")(failures)), [2, 4, 8, 16, 30, 30, 30]);
});

for (const [format, value, text] of [
  ["ofRate", 0, "0"], ["ofRate", 0.05, "0.050"], ["ofRate", 1.234, "1.23"], ["ofRate", 99.96, "100"],
  ["ofRate", 1234.5, "1,235"], ["ofRate", 123456.7, "123,457"], ["ofRate", 1234567, "1.23 M"], ["ofRate", 0.0004, "< 0.001"],
  ["ofRate", null, "\u2013"], ["ofRate", NaN, "\u2013"],
  ["ofByteRate", 999, "999 B/s"], ["ofByteRate", 999.6, "1.00 kB/s"], ["ofByteRate", 1.5e9, "1.50 GB/s"],
  ["ofByteRate", 12.34e6, "12.3 MB/s"],
  ["ofSize", 0, "0 B"], ["ofSize", 512, "512 B"], ["ofSize", 1024, "1.00 KiB"], ["ofSize", 64 * 2 ** 20, "64.0 MiB"],
  ["ofSize", 2 ** 20 - 1, "1.00 MiB"], ["ofSize", null, "\u2013"],
  ["ofTime", 0.00001, "10.0 \u00b5s"], ["ofTime", 0.001, "1.00 ms"], ["ofTime", 0.0123, "12.3 ms"], ["ofTime", 10, "10.0 s"],
  ["ofTime", 0.0009996, "1.00 ms"], ["ofTime", 0, "0 \u00b5s"],
  ["ofCount", 0, "0"], ["ofCount", 7217, "7,217"], ["ofCount", 999999, "999,999"], ["ofCount", 1234567, "1.23 M"],
  ["ofShare", 0.1234, "12.3 %"], ["ofShare", null, "\u2013"],
]) {
  test(`${format}(${value}) is ${text}`, () => {
    assert.equal(of("joined")(of(format)(value)), text);
  });
}

test("round numbers lose their zeros", () => {
  assert.deepEqual(["50.0", "1.00", "2.50", "100"].map((number) => of("rounded")([number, "x"])[0]), ["50", "1", "2.50", "100"]);
});

for (const [seconds, text] of [[0, "0 s"], [59.9, "59 s"], [60, "1 min 0 s"], [3725, "1 h 2 min"], [90000, "1 d 1 h"],
  [-5, "0 s"], [null, "\u2013"]]) {
  test(`ofSpan(${seconds}) is ${text}`, () => assert.equal(of("ofSpan")(seconds), text));
}

test("a percentile at the highest bound is said to be at least that", () => {
  assert.equal(of("joined")(of("ofLatency")(10, 10)), "\u2265 10.0 s");
  assert.equal(of("joined")(of("ofLatency")(9.99, 10)), "9.99 s");
  assert.equal(of("joined")(of("ofLatency")(null, null)), "\u2013");
});

test("scales end at round numbers", () => {
  assert.deepEqual([0, 0.3, 1, 1.2, 4, 7, 312, 5000, 5001].map((value) => of("niceTop")(value)),
    [1, 0.5, 1, 2, 5, 10, 500, 5000, 10000]);
  assert.equal(of("niceTop")(0, 1000), 1000);
  assert.deepEqual([0, 1500, 2 ** 16, 2 ** 16 + 1, 2 ** 20].map((value) => of("niceTopOfBytes")(value)),
    [2 ** 16, 2 ** 16, 2 ** 16, 2 ** 17, 2 ** 20]);
  const latency = of("logScale")([0.0002, 0.003]);
  assert.deepEqual(plain(latency.ticks).map((tick) => tick.toPrecision(2)), ["0.00010", "0.0010", "0.010"]);
  assert.equal(latency.y(0.0001), 0);
  assert.ok(Math.abs(latency.y(0.001) - 0.5) < 1e-9);
  assert.deepEqual(plain(of("logScale")([]).ticks).length, 3);
});

test("lines break where there is nothing and after a silence, and never cross it", () => {
  const line = (points) => of("linePath")(points, 6);
  assert.equal(line([[0, 1], [2, 3.333], [4, 5]]), "M0 1L2 3.3L4 5");
  assert.equal(line([[0, 1], [2, 1], null, [6, 1], [8, 2]]), "M0 1L2 1M6 1L8 2");
  assert.equal(line([[0, 1], [2, 1], [20, 1], [22, 1]]), "M0 1L2 1M20 1L22 1");
  assert.equal(line([[0, 1], null, [20, 1]]), "M0 1h0M20 1h0");
  assert.equal(line([]), "");
  assert.equal(of("areaPath")([[0, 1], [2, 1], null, [6, 1]], 6, 9), "M0 1L2 1L2 9L0 9Z");
});

test("the span grows with what there is to show", () => {
  const span = (...times) => of("spanOf")(times.map((at) => ({ at })), 300);
  assert.deepEqual([span(), span(300), span(240, 300), span(239, 300), span(100), span(0)], [60, 60, 60, 120, 300, 300]);
});
