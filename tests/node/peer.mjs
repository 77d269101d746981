// A Node process that uses dtimer, for tests together with routemaster's processes:
//
//   node peer.mjs '{"port":P,"ns":"dt","id":"node","confirm":true,"confTimeout":1,"maxEvents":8}'
//
// With an `id` it listens, prints {"event":EVENT,"now":ms} for each event, and confirms the event
// if `confirm` is true. It executes calls from the Redis list `peer:ID` (`peer:` without an id),
// such as ["post",{"text":"hello"},500], and prints {"done":REPLY} or {"failed":TEXT}. "quit" ends
// it.

import dtimer from 'dtimer';
import redis from 'redis';

const { port, ns = 'dt', id = '', confirm = false, ...option } = JSON.parse(process.argv[2]);
const connect = () => redis.createClient(port, '127.0.0.1');
const say = (what) => process.stdout.write(JSON.stringify(what) + '\n');

const orders = connect();
const timers = new dtimer.DTimer(id, connect(), id ? connect() : undefined, { ns, ...option });
timers.on('error', (error) => say({ error: String(error) }));
timers.on('event', (event) => {
  say({ event, now: Date.now() });
  if (confirm && event.maxRetries > 0) timers.confirm(event.id);
});

async function next() {
  const [, text] = await new Promise((resolve, reject) => {
    orders.blpop(`peer:${id}`, 0, (error, reply) => (error ? reject(error) : resolve(reply)));
  });
  return JSON.parse(text);
}

if (id) await timers.join();
say({ done: 'ready' });
for (;;) {
  const [what, ...words] = await next();
  if (what === 'quit') process.exit(0);
  try {
    say({ done: (await timers[what](...words)) ?? null });
  } catch (error) {
    say({ failed: String(error) });
  }
}
