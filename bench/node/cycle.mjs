// Drives a queue for the benchmarks: first the `warmUp` jobs, then the measured jobs. Each number
// must be sent and done exactly once. Prints one JSON line.

/// Parses `--port P --in-flight N` and the program's further options, each with a number.
export function settings() {
  const values = {};
  for (let i = 2; i + 1 < process.argv.length; i += 2) {
    values[process.argv[i].slice(2)] = Number(process.argv[i + 1]);
  }
  const { port, count, seconds, push, stay } = values;
  const [warmUp, inFlight] = [values['warm-up'], values['in-flight']];
  return { port, count, seconds, push, stay, warmUp, inFlight };
}

/// Calls `work` with each number from `begin` to `end`, `width` at a time.
export async function inParallel(width, begin, end, work) {
  let next = begin;
  const worker = async () => {
    while (next < end) await work(next++);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

/// Records the completed jobs. Throws when a job is done twice.
export class Ledger {
  constructor(begin, end) {
    this.done = new Set();
    this.begin = begin;
    this.end = end;
    this.complete = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  note(number) {
    if (number < this.begin || number >= this.end || this.done.has(number)) {
      throw new Error(`job ${number} came again`);
    }
    this.done.add(number);
    if (this.done.size === this.end - this.begin) this.resolve();
  }
}

/// Calls `push` with the numbers from `begin` to `end`, in arrays of a thousand.
export async function inChunks(begin, end, push) {
  for (let first = begin; first < end; first += 1000) {
    const length = Math.min(1000, end - first);
    await push(Array.from({ length }, (_, n) => first + n));
  }
}

/// Runs `cycle(begin, end)` for the warm-up and for the measurement. Returns the result of the
/// measurement. Before each run it calls `prepare(begin, end)`, which is not measured.
export async function measure({ count, warmUp }, cycle, prepare = async () => {}) {
  await prepare(0, warmUp);
  await cycle(0, warmUp);
  await prepare(warmUp, warmUp + count);
  const cpuBefore = process.cpuUsage();
  const begun = process.hrtime.bigint();
  await cycle(warmUp, warmUp + count);
  const seconds = Number(process.hrtime.bigint() - begun) / 1e9;
  const cpu = process.cpuUsage(cpuBefore);
  return { count, seconds, cpu_seconds: (cpu.user + cpu.system) / 1e6 };
}

/// Prints one JSON line about the lateness of jobs, in milliseconds.
export function reportLateness(late) {
  late.sort((a, b) => a - b);
  const at = (share) => late[Math.floor(share * (late.length - 1))];
  const early = late.filter((ms) => ms < 0).length;
  const [p50_ms, p99_ms, max_ms] = [at(0.5), at(0.99), at(1)];
  console.log(JSON.stringify({ count: late.length, p50_ms, p99_ms, max_ms, early }));
}
