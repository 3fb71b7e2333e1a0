// Reads Prometheus' text exposition format (version 0.0.4).
"use strict";

// A Map from each sample's name to a Map from its labels as they are written to {labels, value},
// `labels` being an object; a value that is not finite is null. Lines that are no samples, comments
// among them, are left out; so are timestamps.
function parseExposition(text) {
  const samples = new Map();
  for (const line of text.split("\n")) {
    const found = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})?[ \t]+(\S+)(?:[ \t]+-?\d+)?[ \t]*$/.exec(line);
    if (!found) continue;
    const [, name, written = "", number] = found;
    const value = parseNumber(number);
    if (value === null) continue;
    if (!samples.has(name)) samples.set(name, new Map());
    samples.get(name).set(written, { labels: parseLabels(written), value: Number.isFinite(value) ? value : null });
  }
  return samples;
}

// Null when it is no number.
function parseNumber(text) {
  const special = { "+Inf": Infinity, "Inf": Infinity, "-Inf": -Infinity, "NaN": NaN };
  if (text in special) return special[text];
  const value = Number(text);
  return Number.isNaN(value) ? null : value;
}

function parseLabels(written) {
  const labels = {};
  const escapes = { "\\\\": "\\", "\\\"": "\"", "\\n": "\n" };
  for (const [, name, value] of written.matchAll(/([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g)) {
    labels[name] = value.replace(/\\./g, (escape) => escapes[escape] ?? escape);
  }
  return labels;
}

// The value of a sample that has no sibling; null when there is none, or no sample.
function valueOf(samples, name) {
  const [only] = samples.get(name)?.values() ?? [];
  return only ? only.value : null;
}
