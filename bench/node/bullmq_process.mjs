// BullMQ: processes jobs that were added before, `inFlight` at once; see worker_pool. A job is done
// when the worker emits `completed`: then the job is removed from Redis. With `--stay 1` jobs are
// only added.

import { Queue, Worker } from 'bullmq';

import { Ledger, inChunks, measure, settings } from './cycle.mjs';

const { port, inFlight, stay, ...counts } = settings();
const connection = { host: '127.0.0.1', port };
const queue = new Queue('bench', {
  connection,
  defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
});
await queue.waitUntilReady();

let worker;
async function add(begin, end) {
  await worker?.close();
  await inChunks(begin, end, (numbers) =>
    queue.addBulk(numbers.map((number) => ({ name: 'bench', data: { number } }))),
  );
  if (stay) return;
  const options = { connection, concurrency: inFlight, autorun: false };
  worker = new Worker('bench', async () => {}, options);
  await worker.waitUntilReady();
}

async function work(begin, end) {
  if (stay) return;
  const ledger = new Ledger(begin, end);
  worker.on('completed', (job) => ledger.note(job.data.number));
  worker.run();
  await ledger.complete;
}

const result = await measure(counts, work, add);
const left = Object.values(await queue.getJobCounts()).reduce((sum, count) => sum + count, 0);
const expected = stay ? counts.warmUp + counts.count : 0;
if (left !== expected) throw new Error(`${left} jobs are left`);
await worker?.close();
await queue.close();
console.log(JSON.stringify(result));
