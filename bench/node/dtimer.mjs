// Timers by dtimer, in the namespace of the benchmarks.

import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { DTimer } = require('dtimer');
// dtimer adds promises to this module.
const redis = createRequire(require.resolve('dtimer'))('redis');

/// A listener with this name. Without a name it only posts.
export function timers(port, id = undefined) {
  const connect = () => redis.createClient(port, '127.0.0.1');
  return new DTimer(id, connect(), id && connect(), { ns: 'bench' });
}
