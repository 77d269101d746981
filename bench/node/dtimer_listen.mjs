// dtimer: a listener that measures how late each timer was; see timer_lateness. The first line of
// output means that it listens. Prints one line of JSON when its standard input ends.

import { settings } from './cycle.mjs';
import { timers } from './dtimer.mjs';

const { port, inFlight } = settings();
const listener = timers(port, `node${inFlight}`);
const now = () => performance.timeOrigin + performance.now();
const late = [];
listener.on('event', ({ due }) => late.push(now() - due));
await new Promise((resolve) => setTimeout(resolve, 200)); // dtimer loads its scripts.
await listener.join();
console.log('listening');
for await (const ignored of process.stdin);
console.log(JSON.stringify(late));
process.exit(0);
