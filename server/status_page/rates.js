// What counters and histograms say of a span of time.
//
// A scrape is {at, samples}: a monotonic clock's seconds, and what parseExposition made of the text.

// The scrapes of the last `seconds`, oldest first, as long as they follow each other by at most
// `gap`: what lies on the other side of a silence is not of one span with what is on this side.
function windowOf(scrapes, seconds, gap) {
  let first = scrapes.length - 1;
  while (first > 0 && scrapes[first].at - scrapes[first - 1].at <= gap &&
         scrapes[scrapes.length - 1].at - scrapes[first - 1].at <= seconds) {
    --first;
  }
  return scrapes.slice(Math.max(first, 0));
}

function secondsOf(scrapes) {
  return scrapes.length < 2 ? 0 : scrapes[scrapes.length - 1].at - scrapes[0].at;
}

function restartedBetween(before, after) {
  const start = "process_start_time_seconds";
  const [was, is] = [before, after].map(({ samples }) => valueOf(samples, start));
  return was !== null && is !== null && was !== is;
}

// By how much one counter rose. It begins at zero with the process, and the server may leave it out
// until then; a value that fell without a new process is a beginning too. Where the sample has no
// value, the rise is that between those around it.
function riseOf(scrapes, name, written) {
  let rise = 0;
  let was = null;
  scrapes.forEach((scrape, i) => {
    const sample = scrape.samples.get(name)?.get(written);
    if (i > 0 && restartedBetween(scrapes[i - 1], scrape)) was = 0;
    const is = sample ? sample.value : 0;
    if (is === null) return;
    if (was !== null) rise += is < was ? is : is - was;
    was = is;
  });
  return rise;
}

// A Map from each key that `keyOf` finds for a sample's labels (null: leave the sample out) to how
// much the counters of that key rose together. Of the newest scrape's samples.
function risesBy(scrapes, name, keyOf) {
  const rises = new Map();
  for (const [written, { labels }] of scrapes[scrapes.length - 1].samples.get(name) ?? []) {
    const key = keyOf(labels);
    if (key === null) continue;
    rises.set(key, (rises.get(key) ?? 0) + riseOf(scrapes, name, written));
  }
  return rises;
}

// The same as rises a second; null when the scrapes span no time. The key is `true` for all
// together.
function ratesBy(scrapes, name, keyOf) {
  const seconds = secondsOf(scrapes);
  if (seconds === 0) return null;
  const rates = risesBy(scrapes, name, keyOf);
  for (const [key, rise] of rates) rates.set(key, rise / seconds);
  return rates;
}

function rateOf(scrapes, name, takes = () => true) {
  const rates = ratesBy(scrapes, name, (labels) => takes(labels) ? true : null);
  return rates && (rates.get(true) ?? 0);
}

// The value below which the share `q` of what a histogram observed meanwhile lies, by linear
// interpolation within its bucket as Prometheus' histogram_quantile does: the lowest bucket begins
// at zero, and what lies above the highest bound is told as that bound. Null when nothing was
// observed.
function quantileOf(scrapes, q, name, takes = () => true) {
  if (secondsOf(scrapes) === 0) return null;
  const rises = risesBy(scrapes, `${name}_bucket`, (labels) => takes(labels) ? labels.le : null);
  const buckets = [...rises].map(([le, count]) => ({ le: parseNumber(le), count }));
  return quantileOfBuckets(q, buckets);
}

// `buckets` as the format has them, {le, count}, each with the counts of those below it.
function quantileOfBuckets(q, buckets) {
  const rising = [...buckets].sort((a, b) => a.le - b.le);
  // Scraped while others count, a bucket may be behind the one below it.
  for (let i = 1; i < rising.length; ++i) {
    rising[i] = { le: rising[i].le, count: Math.max(rising[i].count, rising[i - 1].count) };
  }
  const last = rising.length - 1;
  if (last < 1 || rising[last].le !== Infinity || rising[last].count === 0) return null;
  const rank = q * rising[last].count;
  const at = rising.findIndex(({ count }) => count >= rank);
  if (at === last) return rising[last - 1].le;
  const below = at === 0 ? { le: 0, count: 0 } : rising[at - 1];
  const inside = rising[at].count - below.count;
  if (inside === 0) return below.le;
  return below.le + (rising[at].le - below.le) * (rank - below.count) / inside;
}

// The highest finite bound of a histogram, or null.
function topBoundOf(samples, name) {
  const bounds = [...samples.get(`${name}_bucket`)?.values() ?? []]
    .map(({ labels }) => parseNumber(labels.le)).filter(Number.isFinite);
  return bounds.length === 0 ? null : Math.max(...bounds);
}
