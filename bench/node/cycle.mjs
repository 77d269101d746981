// Drives a queue for the benchmarks: first the `warmUp` jobs, then the measured ones; each number
// must be sent and done once. Prints one JSON line.

/// `--port P --in-flight N`, and what else the program takes, each with a number, in any order.
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

/// Records which jobs are done, and that none is done twice.
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

/// Calls `push` with arrays of the numbers from `begin` to `end`, a thousand in each.
export async function inChunks(begin, end, push) {
  for (let first = begin; first < end; first += 1000) {
    const length = Math.min(1000, end - first);
    await push(Array.from({ length }, (_, n) => first + n));
  }
}

/// Runs `cycle(begin, end)` for the warm-up and for the measurement, and returns the latter's
/// result. `prepare(begin, end)` comes before each, and is not measured.
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

/// Prints one JSON line about how late jobs were, in milliseconds.
export function reportLateness(late) {
  late.sort((a, b) => a - b);
  const at = (share) => late[Math.floor(share * (late.length - 1))];
  const early = late.filter((ms) => ms < 0).length;
  const [p50_ms, p99_ms, max_ms] = [at(0.5), at(0.99), at(1)];
  console.log(JSON.stringify({ count: late.length, p50_ms, p99_ms, max_ms, early }));
}
