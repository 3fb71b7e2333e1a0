// Numbers as people read them: three digits and a unit that fits.

const NOTHING = "\u2013";  // what stands where there is no number

// [number, unit] of a value, by the largest of `steps` ([size, unit], ascending) that it reaches.
function scaled(value, steps) {
  if (value === null || !Number.isFinite(value)) return [NOTHING, ""];
  let at = 0;
  while (at + 1 < steps.length && threeDigits(value / steps[at + 1][0]) >= 1) ++at;
  return [withDigits(value / steps[at][0]), steps[at][1]];
}

function threeDigits(value) {
  return Number(Math.abs(value).toPrecision(3));
}

// 0.0123, 1.23, 12.3, 123, 1,234: three digits, but none left out before the point. Zeros behind it
// stay, so that a number that lives does not change its width.
function withDigits(value) {
  const size = threeDigits(value);
  if (size === 0) return "0";
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : Math.min(3, 2 - Math.floor(Math.log10(size)));
  if (Number(size.toFixed(digits)) === 0) return "< 0.001";
  return grouped(value.toFixed(digits));
}

function grouped(text) {
  const [whole, fraction] = text.split(".");
  const commas = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? commas : `${commas}.${fraction}`;
}

const COUNT_STEPS = [[1, ""], [1e6, "M"], [1e9, "G"], [1e12, "T"]];
const RATE_STEPS = [[1, "B/s"], [1e3, "kB/s"], [1e6, "MB/s"], [1e9, "GB/s"], [1e12, "TB/s"]];
const SIZE_STEPS = [[1, "B"], [2 ** 10, "KiB"], [2 ** 20, "MiB"], [2 ** 30, "GiB"], [2 ** 40, "TiB"]];
const TIME_STEPS = [[1e-6, "\u00b5s"], [1e-3, "ms"], [1, "s"]];

const ofRate = (value) => scaled(value, COUNT_STEPS);
const ofByteRate = (value) => scaled(value, RATE_STEPS);
const ofTime = (seconds) => scaled(seconds, TIME_STEPS);

// Whole numbers keep every digit below a million.
function ofCount(value) {
  const whole = value !== null && Number.isInteger(value) && Math.abs(value) < 1e6;
  return whole ? [grouped(String(value)), ""] : scaled(value, COUNT_STEPS);
}

function ofSize(bytes) {
  return bytes !== null && bytes < 1024 ? [withDigits(Math.round(bytes)).replace(/\.\d+$/, ""), "B"] : scaled(bytes, SIZE_STEPS);
}

function ofShare(ratio) {
  return ratio === null ? [NOTHING, ""] : [withDigits(100 * ratio), "%"];
}

// "3 d 4 h": the two largest parts of a time span, in whole seconds.
function ofSpan(seconds) {
  if (seconds === null || !Number.isFinite(seconds)) return NOTHING;
  const whole = Math.max(0, Math.floor(seconds));
  const parts = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const first = parts.findIndex(([size]) => whole >= size);
  if (first < 0) return "0 s";
  const [size, unit] = parts[first];
  const text = `${Math.floor(whole / size)} ${unit}`;
  if (first + 1 === parts.length) return text;
  const [next, nextUnit] = parts[first + 1];
  return `${text} ${Math.floor(whole % size / next)} ${nextUnit}`;
}

// For numbers that are round by themselves: 50, not 50.0.
const rounded = ([number, unit]) => [number.replace(/\.0+$/, ""), unit];

const joined = ([number, unit]) => unit === "" ? number : `${number} ${unit}`;
