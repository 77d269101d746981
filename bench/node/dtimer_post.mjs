// dtimer: posts timers that are due in an hour, `inFlight` at a time; see timer_post.

import { inParallel, measure, settings } from './cycle.mjs';
import { timers } from './dtimer.mjs';

const { port, inFlight, ...counts } = settings();
const poster = timers(port);
await new Promise((resolve) => setTimeout(resolve, 200)); // dtimer loads its scripts.
const result = await measure(counts, (begin, end) =>
  inParallel(inFlight, begin, end, (n) =>
    poster.post({ id: `timer ${n}`, text: 'hello', n, maxRetries: 1 }, 3_600_000),
  ),
);
console.log(JSON.stringify(result));
process.exit(0);
