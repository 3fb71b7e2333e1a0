// Parts of the document that are filled again and again, without touching what stays the same.

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function setShown(element, shown) {
  if (element.hidden === shown) element.hidden = !shown;
}

function newElement(name, className, parent) {
  const element = document.createElement(name);
  if (className) element.className = className;
  parent?.append(element);
  return element;
}

// A number with its unit set smaller.
function setQuantity(element, [number, unit]) {
  if (!element.firstElementChild) {
    newElement("span", "number", element);
    newElement("span", "unit", element);
  }
  setText(element.firstElementChild, number);
  // The blank is for those who read the text: looks are the style's.
  setText(element.lastElementChild, unit === "" ? "" : ` ${unit}`);
}

// Makes the rows of `body` those of `rows`, known again by their `key`: `make` makes one (a <tr>),
// `fill` fills it.
function setRows(body, rows, make, fill) {
  const known = new Map([...body.rows].map((row) => [row.dataset.key, row]));
  let place = body.firstElementChild;
  for (const row of rows) {
    let element = known.get(row.key);
    known.delete(row.key);
    if (!element) {
      element = make();
      element.dataset.key = row.key;
    }
    if (element === place) {
      place = place.nextElementSibling;
    } else {
      body.insertBefore(element, place);
    }
    fill(element, row);
  }
  for (const gone of known.values()) gone.remove();
}

// A <tr> whose first cell heads it, with a cell of each class.
function newRow(classes) {
  const row = document.createElement("tr");
  classes.forEach((className, i) => {
    const cell = newElement(i === 0 ? "th" : "td", className, row);
    if (i === 0) cell.scope = "row";
  });
  return row;
}

function methodRow() {
  const row = newRow(["name", "trend", "quantity", "quantity wide", "quantity wide", "quantity", "quantity total"]);
  newElement("span", "title", row.cells[0]);
  newElement("span", "tag", row.cells[0]);
  newElement("span", "about", row.cells[0]);
  const svg = svgElement("svg", { class: "sparkline", viewBox: "0 0 96 24", "aria-hidden": "true" }, row.cells[1]);
  svgElement("path", { class: "base", d: "M0 23.5H96" }, svg);
  svgElement("path", { class: "line calls" }, svg);
  return row;
}

function fillMethodRow(row, method, points, now, slowest) {
  const [title, tag, about] = row.cells[0].children;
  setText(title, method.method);
  setText(tag, method.streams ? "stream" : "");
  setShown(tag, method.streams);
  setText(about, method.service);
  drawSparkline(row.cells[1].firstChild, points, (point) => point.byMethod && (point.byMethod.get(method.key) ?? 0), now);
  setQuantity(row.cells[2], ofRate(method.rate));
  [method.p50, method.p90, method.p99].forEach((value, i) => setQuantity(row.cells[3 + i], ofLatency(value, slowest)));
  setQuantity(row.cells[6], ofCount(method.total));
}

// A percentile above the histogram's highest bound is only known to be that long.
function ofLatency(seconds, slowest) {
  const [number, unit] = ofTime(seconds);
  return [seconds !== null && seconds === slowest ? `\u2265 ${number}` : number, unit];
}

const REASONS = {
  invalid: "The request is wrong",
  too_large: "Over a fixed limit",
  over_budget: "No room in the budget of bytes in flight",
  draining: "The server ends",
  deadline: "Out of time",
  cancelled: "The caller left",
  idle: "A stream on which nothing moved",
};

function countRow() {
  const row = newRow(["name", "quantity", "quantity total"]);
  newElement("span", "title", row.cells[0]);
  newElement("span", "about", row.cells[0]);
  return row;
}

function fillCountRow(row, { key, rate, total }) {
  const [title, about] = row.cells[0].children;
  setText(title, key.replaceAll("_", " "));
  setText(about, REASONS[key] ?? "");
  setQuantity(row.cells[1], ofRate(rate));
  setQuantity(row.cells[2], ofCount(total));
}

function modelRow() {
  const row = newRow(["name", "quantity", "state"]);
  newElement("span", "word", row.cells[2]);
  newElement("span", "about", row.cells[2]);
  return row;
}

function fillModelRow(row, { name, version, state, reason }) {
  setText(row.cells[0], shownName(name));
  setText(row.cells[1], version === "" ? NOTHING : version);
  const [word, about] = row.cells[2].children;
  const troubled = state === "READY" && reason !== "";
  setText(word, { READY: "ready", UNAVAILABLE: "unavailable" }[state] ?? state);
  word.dataset.state = state !== "READY" ? "bad" : troubled ? "warn" : "good";
  setText(about, reason);
}
