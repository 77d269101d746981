// dtimer: one listener takes due timers and confirms each timer; see timer_fire.

import { measure, settings } from './cycle.mjs';
import { timers } from './dtimer.mjs';

const { port, count } = settings();
const listener = timers(port, 'node');
const fired = new Set();
let open = count;
const finished = new Promise((resolve) => {
  listener.on('event', async ({ id }) => {
    if (fired.has(id)) throw new Error(`${id} came again`);
    fired.add(id);
    if ((await listener.confirm(id)) !== 1) throw new Error(`${id} cannot be confirmed`);
    if (--open === 0) resolve();
  });
});
await new Promise((resolve) => setTimeout(resolve, 200)); // dtimer loads its scripts.
const run = async (begin, end) => {
  if (begin === end) return;
  await listener.join();
  await finished;
};
console.log(JSON.stringify(await measure({ count, warmUp: 0 }, run)));
process.exit(0);
