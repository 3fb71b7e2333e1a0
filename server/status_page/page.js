// Asks the server again and again, and shows what it says.

const byId = (id) => document.getElementById(id);
const record = { scrapes: [], points: [] };
let latest = null;    // what the last good answer says; null while there is none
let chosen = null;    // the point that the reader looks at; null: the newest
let failures = 0;
let lastAnswer = null;
let answeredAt = 0;
let timer = 0;
let asking = false;
let modelsAskedAt = -Infinity;

const seconds = () => performance.now() / 1000;

const CHARTS = [
  {
    id: "calls", name: "Calls a second", lines: [{ key: "calls", area: true }],
    scale: (values) => linearScale(niceTop(Math.max(...values, 0))), tick: (value) => joined(rounded(ofRate(value))),
    show: { calls: ofRate },
  },
  {
    id: "latency", name: "Latency", lines: [{ key: "p50" }, { key: "p90" }, { key: "p99" }],
    scale: logScale, tick: (value) => joined(rounded(ofTime(value))),
    show: { p50: asLatency, p90: asLatency, p99: asLatency },
  },
  {
    id: "payload", name: "Payload", lines: [{ key: "bytesIn", area: true }, { key: "bytesOut" }],
    scale: (values) => linearScale(niceTop(Math.max(...values, 0), 1000)), tick: (value) => joined(rounded(ofByteRate(value))),
    show: { bytesIn: ofByteRate, bytesOut: ofByteRate },
  },
  {
    id: "inflight", name: "In flight", lines: [{ key: "inFlightBytes", area: true }],
    scale: (values) => linearScale(niceTopOfBytes(Math.max(...values, 0))), tick: (value) => joined(rounded(ofSize(value))),
    show: { inFlightBytes: ofSize, inFlightCalls: ofCount },
  },
].map((spec) => ({ ...spec, chart: new Chart(byId(spec.id).querySelector(".plot svg"), spec.lines, spec.scale, spec.tick) }));

function asLatency(value) {
  return ofLatency(value, latest?.process.slowest ?? null);
}

async function ask(path) {
  const answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(5000) });
  return { ok: answer.ok, status: answer.status, text: (await answer.text()).trim(), date: answer.headers.get("Date") };
}

async function askModels() {
  if (seconds() - modelsAskedAt < 5 * POLL_EVERY - 1) return;
  modelsAskedAt = seconds();
  try {
    const answer = await ask("/models");
    showModels(answer.ok ? modelsOf(answer.text) : null);
  } catch {
    showModels(null);
  }
}

async function poll() {
  if (asking) return;
  asking = true;
  clearTimeout(timer);
  try {
    const [metrics, live, ready] = await Promise.all([ask("/metrics"), ask("/livez"), ask("/readyz")]);
    if (!metrics.ok) throw new Error(`/metrics answered ${metrics.status}`);
    take(metrics, healthOf(live, ready));
    await askModels();
  } catch {
    ++failures;
    lose();
  }
  asking = false;
  const wait = failures === 0 ? POLL_EVERY : waitAfter(failures);
  if (failures > 0) showLoss(wait);
  if (!document.hidden) timer = setTimeout(poll, 1000 * wait);
}

function take(metrics, health) {
  const scrape = { at: seconds(), samples: parseExposition(metrics.text) };
  const last = record.scrapes[record.scrapes.length - 1];
  const restarted = Boolean(last && restartedBetween(last, scrape));
  if (restarted) modelsAskedAt = -Infinity;
  record.scrapes = windowOf([...record.scrapes, scrape], RATE_WINDOW + POLL_EVERY / 2, GAP);
  record.points = [...record.points, { ...pointOf(record.scrapes), restarted }].filter(({ at }) => scrape.at - at <= CHART_SECONDS);
  if (chosen && !record.points.includes(chosen)) chosen = null;
  failures = 0;
  lastAnswer = new Date();
  answeredAt = scrape.at;
  const now = metrics.date === null ? Date.now() : Date.parse(metrics.date);
  latest = {
    process: processOf(record.scrapes, now / 1000),
    methods: methodsOf(record.scrapes),
    errors: errorsOf(record.scrapes),
    rejections: rejectionsOf(record.scrapes),
  };
  showHealth(health);
  showAll();
}

function lose() {
  latest = null;
  chosen = null;
  modelsAskedAt = -Infinity;
  showAll();
}

function showHealth({ state, word, detail }) {
  if (byId("health").dataset.state !== state) byId("health").dataset.state = state;
  setText(byId("health-word"), word);
  setText(byId("health-detail"), detail);
  setText(document.querySelector("title"), `${word} \u2013 trelu ${location.host}`);
  const colors = { good: "1a7f4b", warn: "b26a00", bad: "c4302b", unknown: "808890" };
  const icon = `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><circle cx='8' cy='8' r='7' fill='%23${colors[state]}'/></svg>`;
  setIfOther(byId("icon"), "href", `data:image/svg+xml,${icon}`);
  setShown(byId("retry"), failures > 0);
}

function showLoss(wait) {
  const since = lastAnswer ? `No answer since ${lastAnswer.toLocaleTimeString()}.` : "No answer from this address.";
  showHealth({ state: "bad", word: "Unreachable", detail: since });
  setText(byId("retry-wait"), `Next try in ${wait} s.`);
}

function showAll() {
  showProcess();
  showCharts();
  showTables();
}

function showProcess() {
  const process = latest?.process;
  const facts = {
    version: process?.version ?? NOTHING,
    uptime: ofSpan(process?.uptime ?? null),
    processors: withUnit(process?.processors, ofRate),
    memory: withUnit(process?.memory, ofSize),
    files: process ? `${withUnit(process.files, ofCount)} of ${withUnit(process.filesLimit, ofCount)}` : NOTHING,
  };
  for (const [id, text] of Object.entries(facts)) setText(byId(id), text);
}

const withUnit = (value, format) => joined(format(value ?? null));

function showCharts() {
  const now = latest ? answeredAt : seconds();
  const newest = latest ? record.points[record.points.length - 1] : null;
  const point = chosen ?? newest;
  for (const { id, chart, show } of CHARTS) {
    chart.draw(record.points, now, chosen);
    for (const [key, format] of Object.entries(show)) {
      setQuantity(byId(id).querySelector(`[data-value=${key}]`), format(point ? point[key] : null));
    }
    setText(byId(id).querySelector(".when"), chosen ? `${Math.round(now - chosen.at)} s ago` : "");
    setText(byId(id).querySelector(".from"), `${spanOf(record.points, now) / 60} min ago`);
  }
  const budget = latest?.process.budget ?? null;
  const used = shareOf(point?.inFlightBytes ?? null, budget);
  setQuantity(byId("budget"), rounded(ofSize(budget)));
  const bar = byId("budget-bar");
  setIfOther(bar, "aria-valuenow", String(Math.round(100 * (used ?? 0))));
  setIfOther(bar, "aria-valuetext", used === null ? "unknown" : `${joined(ofShare(used))} of the budget`);
  setIfOther(bar.firstElementChild.lastElementChild, "width", `${Math.min(100, 100 * (used ?? 0)).toFixed(2)}%`);
  bar.dataset.state = used > 0.95 ? "bad" : used > 0.8 ? "warn" : "good";
}

function showTables() {
  const now = latest ? answeredAt : seconds();
  for (const [id, rows, make, fill] of [
    ["methods", latest?.methods.rows, methodRow, (row, method) => fillMethodRow(row, method, record.points, now, latest.process.slowest)],
    ["errors", latest?.errors, countRow, fillCountRow],
    ["rejections", latest?.rejections, countRow, fillCountRow],
  ]) {
    const section = byId(id);
    setRows(section.querySelector("tbody"), rows ?? [], make, fill);
    setShown(section.querySelector("table"), rows?.length > 0);
    setText(section.querySelector(".empty"), rows ? section.dataset.empty : NOTHING);
    setShown(section.querySelector(".empty"), !(rows?.length > 0));
  }
  const uncalled = latest?.methods.uncalled ?? 0;
  setText(byId("uncalled"), uncalled > 0 ? `${uncalled} other methods were not called since the start.` : "");
  if (!latest) showModels(null);
}

function showModels(list) {
  const rows = (list?.models ?? []).map((model) => ({ ...model, key: `${model.name}/${model.version}` }));
  setRows(byId("models").querySelector("tbody"), rows, modelRow, fillModelRow);
  setShown(byId("models").querySelector("table"), rows.length > 0);
  const left = list ? list.total - rows.length : 0;
  setText(byId("models-count"), !list ? NOTHING : `${grouped(String(list.ready))} of ${grouped(String(list.total))} ready`);
  setText(byId("models-left"), left > 0 ? `${grouped(String(left))} more are not shown.` : "");
}

// The reader's look at a moment in the past, in all charts at once.
function choose(point) {
  if (point === chosen) return;
  chosen = point;
  showCharts();
}

function reading({ name, show }) {
  const point = chosen ?? record.points[record.points.length - 1];
  if (!point) return `${name}: nothing yet`;
  const values = Object.entries(show).map(([key, format]) => `${LABELS[key]} ${joined(format(point[key]))}`.trim());
  return `${name}${chosen ? ` ${Math.round(answeredAt - chosen.at)} seconds ago` : " now"}: ${values.join(", ")}`;
}

const LABELS = {
  calls: "", p50: "p50", p90: "p90", p99: "p99", bytesIn: "in", bytesOut: "out", inFlightBytes: "bytes", inFlightCalls: "calls",
};

for (const spec of CHARTS) {
  const plot = byId(spec.id).querySelector(".plot");
  plot.addEventListener("pointermove", ({ clientX }) => choose(spec.chart.pointAt(clientX, record.points, answeredAt)));
  plot.addEventListener("pointerleave", () => choose(null));
  plot.addEventListener("focus", () => plot.setAttribute("aria-label", `${reading(spec)}. Arrow keys go back in time.`));
  plot.addEventListener("blur", () => choose(null));
  plot.addEventListener("keydown", (event) => {
    const points = record.points;
    const at = chosen ? points.indexOf(chosen) : points.length - 1;
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: points.length, Escape: points.length }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    choose(to >= points.length - 1 ? null : points[Math.max(0, to)] ?? null);
    setText(byId("reading"), reading(spec));
  });
}

byId("try-now").addEventListener("click", poll);
document.addEventListener("visibilitychange", () => document.hidden ? clearTimeout(timer) : poll());
new ResizeObserver(showCharts).observe(document.body);
setText(byId("address"), location.host);
poll();
