// BullMQ: `inFlight` calls of `add` under way, and a worker that processes as many jobs at once. A
// job is done when the worker emits `completed`: then the job is removed from Redis.

import { Queue, Worker } from 'bullmq';

import { Ledger, inParallel, measure, settings } from './cycle.mjs';

const { port, inFlight, ...counts } = settings();
const connection = { host: '127.0.0.1', port };
const queue = new Queue('bench', {
  connection,
  defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
});
const worker = new Worker('bench', async () => {}, { connection, concurrency: inFlight });
let ledger;
worker.on('completed', (job) => ledger.note(job.data.number));
await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);

const result = await measure(counts, async (begin, end) => {
  ledger = new Ledger(begin, end);
  await inParallel(inFlight, begin, end, (number) => queue.add('bench', { number }));
  await ledger.complete;
});
const left = Object.values(await queue.getJobCounts()).reduce((sum, count) => sum + count, 0);
if (left !== 0) throw new Error(`${left} jobs are left`);
await worker.close();
await queue.close();
console.log(JSON.stringify(result));
