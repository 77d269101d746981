// Timers by dtimer, in the namespace of the benchmarks.

import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { DTimer } = require('dtimer');
// The one that dtimer extends with promises.
const redis = createRequire(require.resolve('dtimer'))('redis');

/// A listener of that name; without one it only posts.
export function timers(port, id = undefined) {
  const connect = () => redis.createClient(port, '127.0.0.1');
  return new DTimer(id, connect(), id && connect(), { ns: 'bench' });
}
