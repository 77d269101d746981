// BullMQ: a worker whose jobs never end. Prints a line when a job begins; see job_recovery. With
// `--push 1` it adds a job first.

import { Queue, Worker } from 'bullmq';

import { settings } from './cycle.mjs';

const { port, inFlight, push } = settings();
const connection = { host: '127.0.0.1', port };
const worker = new Worker(
  'bench',
  () => {
    console.log('begun');
    return new Promise(() => {});
  },
  { connection, concurrency: inFlight },
);
await worker.waitUntilReady();
if (push) {
  const queue = new Queue('bench', { connection });
  await queue.add('bench', {});
  await queue.close();
}
console.log('ready');
