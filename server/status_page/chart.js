// Line charts of the last minutes, drawn as SVG.

const CHART_SPANS = [60, 120, 300];  // seconds; the last is how long points are kept
const CHART_SECONDS = CHART_SPANS[CHART_SPANS.length - 1];

// The shortest span that holds all points.
function spanOf(points, now) {
  return CHART_SPANS.find((span) => points.length === 0 || now - points[0].at <= span) ?? CHART_SECONDS;
}

// The least of 1, 2, 5, 10, ... times `unit` that is not below `value`.
function niceTop(value, unit = 1) {
  if (!(value > 0)) return unit;
  const size = 10 ** Math.floor(Math.log10(value / unit));
  for (const step of [1, 2, 5, 10]) {
    if (step * size * unit >= value * (1 - 1e-9)) return step * size * unit;
  }
  return 10 * size * unit;
}

// For bytes, whose round numbers are powers of two; from 64 KiB on.
function niceTopOfBytes(value) {
  return 2 ** Math.ceil(Math.log2(Math.max(value, 2 ** 16)));
}

// From zero: {low, high, ticks, y}, `y` taking a value to 0 (bottom) .. 1 (top).
function linearScale(high) {
  return { low: 0, high, ticks: [0, high / 2, high], y: (value) => value / high };
}

// By powers of ten around the values, at least one decade.
function logScale(values) {
  const logs = values.filter((value) => value > 0).map(Math.log10);
  const low = logs.length === 0 ? -5 : Math.floor(Math.min(...logs) + 1e-9);
  const high = Math.max(logs.length === 0 ? -3 : Math.ceil(Math.max(...logs) - 1e-9), low + 1);
  const every = Math.ceil((high - low) / 3);
  const ticks = [];
  for (let power = low; power <= high; power += every) ticks.push(10 ** power);
  const y = (value) => (Math.log10(Math.max(value, 10 ** low)) - low) / (high - low);
  return { low: 10 ** low, high: 10 ** high, ticks, y };
}

// The `d` of a path through [x, y] points; null points and steps wider than `widest` break it. One
// that stands alone is a dot.
function linePath(points, widest) {
  const text = (number) => String(Math.round(number * 10) / 10);
  let path = "";
  let last = null;
  for (let i = 0; i < points.length; ++i) {
    const point = points[i];
    if (point !== null) {
      const goesOn = last !== null && point[0] - last[0] <= widest;
      path += `${goesOn ? "L" : "M"}${text(point[0])} ${text(point[1])}`;
      const next = points[i + 1] ?? null;
      if (!goesOn && (next === null || next[0] - point[0] > widest)) path += "h0";
    }
    last = point;
  }
  return path;
}

// The same, with the area down to `floor` closed under each unbroken piece.
function areaPath(points, widest, floor) {
  const pieces = linePath(points, widest).split("M").filter((piece) => piece.includes("L"));
  return pieces.map((piece) => {
    const first = piece.split(" ")[0];
    const last = piece.slice(piece.lastIndexOf("L") + 1).split(" ")[0];
    return `M${piece}L${last} ${floor}L${first} ${floor}Z`;
  }).join("");
}

function svgElement(name, attributes, parent) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent?.append(element);
  return element;
}

function setIfOther(element, attribute, value) {
  if (element.getAttribute(attribute) !== value) element.setAttribute(attribute, value);
}

// `lines`: {key, area} for each; `scaleOf` makes a scale of all values; `format` says a tick.
class Chart {
  constructor(svg, lines, scaleOf, format) {
    this.svg = svg;
    this.lines = lines;
    this.scaleOf = scaleOf;
    this.format = format;
    this.ticks = svgElement("g", { class: "ticks" }, svg);
    this.marks = svgElement("path", { class: "mark" }, svg);
    this.paths = lines.map(({ key, area }) => ({
      area: area ? svgElement("path", { class: `area ${key}` }, svg) : null,
      line: svgElement("path", { class: `line ${key}` }, svg),
    }));
    this.cursor = svgElement("path", { class: "cursor" }, svg);
    this.dots = lines.map(({ key }) => svgElement("circle", { class: `dot ${key}`, r: "3.5" }, svg));
  }

  // `points` in their order; the right edge is the moment `now`. `chosen` is one of them, or null.
  draw(points, now, chosen) {
    const { clientWidth: width, clientHeight: height } = this.svg;
    if (width === 0) return;
    const top = 14, floor = height - 1, right = width - 5, span = spanOf(points, now);
    setIfOther(this.svg, "viewBox", `0 0 ${width} ${height}`);
    const values = points.flatMap((point) => this.lines.map(({ key }) => point[key]))
      .filter((value) => value !== null);
    const scale = this.scaleOf(values);
    const x = (at) => right * (1 - (now - at) / span);
    const y = (value) => floor - (floor - top) * scale.y(value);
    this.drawTicks(scale, y, width);
    const widest = right * GAP / span;
    this.lines.forEach(({ key }, i) => {
      const spots = points.map((point) => point[key] === null ? null : [x(point.at), y(point[key])]);
      setIfOther(this.paths[i].line, "d", linePath(spots, widest));
      if (this.paths[i].area) setIfOther(this.paths[i].area, "d", areaPath(spots, widest, floor));
      const shown = chosen && chosen[key] !== null;
      setIfOther(this.dots[i], "visibility", shown ? "visible" : "hidden");
      if (shown) {
        setIfOther(this.dots[i], "cx", x(chosen.at).toFixed(1));
        setIfOther(this.dots[i], "cy", y(chosen[key]).toFixed(1));
      }
    });
    setIfOther(this.cursor, "d", chosen ? `M${x(chosen.at).toFixed(1)} ${top}V${floor}` : "");
    setIfOther(this.marks, "d", points.filter(({ restarted }) => restarted)
      .map(({ at }) => `M${x(at).toFixed(1)} ${top}V${floor}`).join(""));
  }

  drawTicks(scale, y, width) {
    while (this.ticks.childElementCount < 2 * scale.ticks.length) {
      svgElement("path", {}, this.ticks);
      svgElement("text", { x: "0" }, this.ticks);
    }
    while (this.ticks.childElementCount > 2 * scale.ticks.length) this.ticks.lastChild.remove();
    scale.ticks.forEach((tick, i) => {
      const at = Math.round(y(tick)) + 0.5;
      setIfOther(this.ticks.children[2 * i], "d", `M0 ${at}H${width}`);
      const text = this.ticks.children[2 * i + 1];
      setIfOther(text, "y", String(at - 4));
      // Zero is where everyone expects it.
      setText(text, tick === 0 ? "" : this.format(tick));
    });
  }

  // The point that is nearest to a place on the screen, or null.
  pointAt(clientX, points, now) {
    const box = this.svg.getBoundingClientRect();
    const at = now - spanOf(points, now) * (1 - (clientX - box.left) / (box.width - 5));
    let nearest = null;
    for (const point of points) {
      if (nearest === null || Math.abs(point.at - at) < Math.abs(nearest.at - at)) nearest = point;
    }
    return nearest;
  }
}

// A line without axes, for a row of a table.
function drawSparkline(svg, points, valueOfPoint, now) {
  const width = 96, height = 24;
  const span = spanOf(points, now);
  const top = Math.max(...points.map((point) => valueOfPoint(point) ?? 0), 1e-9);
  const spots = points.map((point) => {
    const value = valueOfPoint(point);
    const x = width - 2 - (width - 2) * (now - point.at) / span;
    return value === null ? null : [x, height - 2 - (height - 4) * value / top];
  });
  setIfOther(svg.lastChild, "d", linePath(spots, width * GAP / span));
}
