// dtimer: a listener that prints how late each timer was, one line of JSON when its standard input
// ends; see timer_lateness. The first line says that it listens.

import { settings } from './cycle.mjs';
import { timers } from './dtimer.mjs';

const { port, inFlight } = settings();
const listener = timers(port, `node${inFlight}`);
const now = () => performance.timeOrigin + performance.now();
const late = [];
listener.on('event', ({ due }) => late.push(now() - due));
await new Promise((resolve) => setTimeout(resolve, 200)); // It loads its scripts by itself.
await listener.join();
console.log('listening');
for await (const ignored of process.stdin);
console.log(JSON.stringify(late));
process.exit(0);
