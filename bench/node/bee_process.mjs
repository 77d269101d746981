// bee-queue: processes jobs that were saved before, `inFlight` at once; see worker_pool. A job is
// done when the worker emits `succeeded`: then the job is removed from Redis. Events and the list
// of jobs are off, to make bee-queue faster. With `--stay 1` jobs are only saved.

import Queue from 'bee-queue';

import { Ledger, inChunks, measure, settings } from './cycle.mjs';

const { port, inFlight, stay, ...counts } = settings();
const common = {
  redis: { host: '127.0.0.1', port },
  removeOnSuccess: true,
  removeOnFailure: true,
  getEvents: false,
  sendEvents: false,
  storeJobs: false,
};
const queue = new Queue('bench', { ...common, isWorker: false });
await queue.ready();

let worker;
async function save(begin, end) {
  await worker?.close();
  await inChunks(begin, end, async (numbers) => {
    const failed = await queue.saveAll(numbers.map((number) => queue.createJob({ number })));
    if (failed.size > 0) throw new Error('jobs were not saved');
  });
  if (stay) return;
  worker = new Queue('bench', common);
  await worker.ready();
}

async function work(begin, end) {
  if (stay) return;
  const ledger = new Ledger(begin, end);
  worker.on('succeeded', (job) => ledger.note(job.data.number));
  worker.process(inFlight, async () => {});
  await ledger.complete;
}

const result = await measure(counts, work, save);
const { waiting, active, failed, delayed } = await queue.checkHealth();
const left = waiting + active + failed + delayed;
const expected = stay ? counts.warmUp + counts.count : 0;
if (left !== expected) throw new Error(`${left} jobs are left`);
await worker?.close();
await queue.close();
console.log(JSON.stringify(result));
