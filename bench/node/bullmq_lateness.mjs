// BullMQ: measures how late jobs begin that are due at random instants; see job_lateness.

import { Queue, Worker } from 'bullmq';

import { inParallel, reportLateness, settings } from './cycle.mjs';

const { port, inFlight, count, seconds } = settings();
const connection = { host: '127.0.0.1', port };
const queue = new Queue('bench', { connection, defaultJobOptions: { removeOnComplete: true } });
const now = () => performance.timeOrigin + performance.now();
const late = [];
let finish;
const finished = new Promise((resolve) => {
  finish = resolve;
});
const worker = new Worker(
  'bench',
  async (job) => {
    late.push(now() - job.data.due);
    if (late.length === count) finish();
  },
  { connection, concurrency: inFlight },
);
await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);

const start = Date.now() + 1000;
await inParallel(inFlight, 0, count, (number) => {
  const due = start + Math.floor(Math.random() * seconds * 1000);
  return queue.add('bench', { number, due }, { delay: Math.max(0, due - Date.now()) });
});
await finished;
await worker.close();
await queue.close();
reportLateness(late);
