// bee-queue: a worker whose jobs never end. Prints a line when a job begins; see job_recovery. With
// `--push 1` it saves a job first. It searches for jobs of dead workers in the interval recommended
// by bee-queue's documentation.

import Queue from 'bee-queue';

import { settings } from './cycle.mjs';

const { port, inFlight, push } = settings();
const queue = new Queue('bench', { redis: { host: '127.0.0.1', port } });
await queue.ready();
queue.checkStalledJobs(5000, (error) => {
  if (error) throw error;
});
queue.process(inFlight, () => {
  console.log('begun');
  return new Promise(() => {});
});
if (push) await queue.createJob({}).save();
console.log('ready');
