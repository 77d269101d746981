// bee-queue: measures how late jobs begin that are due at random instants; see job_lateness.

import Queue from 'bee-queue';

import { inParallel, reportLateness, settings } from './cycle.mjs';

const { port, inFlight, count, seconds } = settings();
const queue = new Queue('bench', {
  redis: { host: '127.0.0.1', port },
  activateDelayedJobs: true,
  removeOnSuccess: true,
});
const now = () => performance.timeOrigin + performance.now();
const late = [];
let finish;
const finished = new Promise((resolve) => {
  finish = resolve;
});
await queue.ready();
queue.process(inFlight, async (job) => {
  late.push(now() - job.data.due);
  if (late.length === count) finish();
});

const start = Date.now() + 1000;
await inParallel(inFlight, 0, count, (number) => {
  const due = start + Math.floor(Math.random() * seconds * 1000);
  return queue.createJob({ number, due }).delayUntil(due).save();
});
await finished;
await queue.close();
reportLateness(late);
