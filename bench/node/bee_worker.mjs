// bee-queue: a worker whose jobs never end, and which prints a line when one begins; see
// job_recovery. With `--push 1` it saves a job first. It looks for the jobs of dead workers as often
// as its documentation says.

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
