import { performance } from "node:perf_hooks";

export function median(values: readonly number[]): number {
  if (values.length === 0) return Number.NaN;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Least-squares slope of log(y) over log(x): 1 is linear, 2 is quadratic. */
export function growthExponent(points: readonly (readonly [x: number, y: number])[]): number {
  const logs = points.map(([x, y]) => [Math.log(x), Math.log(y)] as const);
  const meanX = logs.reduce((sum, [x]) => sum + x, 0) / logs.length;
  const meanY = logs.reduce((sum, [, y]) => sum + y, 0) / logs.length;
  const over = logs.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  const under = logs.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return over / under;
}

export interface RateOptions {
  /** Length of one sample in milliseconds; 100 keeps timer noise under a percent. */
  readonly sampleMs?: number;
  /** Samples that count; the median of them is the answer. */
  readonly samples?: number;
  /** Calls between two looks at the clock. */
  readonly batch?: number;
}

/** One thing to measure. It returns something that depends on its work, so that nothing can be folded away. */
export type Subject = (round: number) => unknown;

/**
 * Calls per second of each subject. Samples are interleaved (a, b, c, a, b, c, ..) so that a machine that slows down
 * in the middle slows all of them, and the first round only warms up. A subject that returns a promise is awaited.
 */
export async function rates<Name extends string>(
  subjects: Readonly<Record<Name, Subject>>,
  options: RateOptions = {},
): Promise<Readonly<Record<Name, number>>> {
  const { sampleMs = 100, samples = 7, batch = 32 } = options;
  const names = Object.keys(subjects) as Name[];
  const taken = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round <= samples; round += 1) {
    for (const name of names) {
      const rate = await sample(subjects[name], sampleMs, batch);
      if (round > 0) taken.get(name)?.push(rate);
    }
  }
  const result = names.map((name) => [name, median(taken.get(name) ?? [])]);
  return Object.fromEntries(result) as Record<Name, number>;
}

/** Holds the last answer, so that the work that made it cannot be left out. */
const sink: { last: unknown } = { last: undefined };

async function sample(subject: Subject, sampleMs: number, batch: number): Promise<number> {
  const first = subject(0);
  const waits = first instanceof Promise;
  await first;
  let calls = 0;
  const start = performance.now();
  let now = start;
  while (now - start < sampleMs) {
    if (waits) for (let index = 0; index < batch; index += 1) sink.last = await subject(index);
    else for (let index = 0; index < batch; index += 1) sink.last = subject(index);
    calls += batch;
    now = performance.now();
  }
  return (calls * 1000) / (now - start);
}

/** Median duration in milliseconds of calls made one after the other; the first is not counted. */
export async function durationMs(
  work: () => unknown,
  { runs = 7 }: { readonly runs?: number } = {},
): Promise<number> {
  await work();
  const taken: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const start = performance.now();
    sink.last = await work();
    taken.push(performance.now() - start);
  }
  return median(taken);
}

/** `value` with four significant digits, which is more than these measurements repeat. */
export function rounded(value: number): number {
  return Number.isFinite(value) ? Number(value.toPrecision(4)) : value;
}
