export interface LoadOrder {
  readonly concurrency: number;
  readonly seconds: number;
  /** Size of one entry. */
  readonly bytes: number;
}

export interface LoadResult {
  readonly entries: number;
  readonly seconds: number;
  /** The median, the 99th percentile and the maximum. */
  readonly latenciesMs: readonly number[];
}

const payloadCount = 64;

/** Runs `concurrency` proposers. Each waits for its own entry before it proposes the next. */
export async function load(
  propose: (payload: Uint8Array) => Promise<unknown>,
  { concurrency, seconds, bytes }: LoadOrder,
): Promise<LoadResult> {
  const latenciesMs: number[] = [];
  const begunMs = performance.now();
  const endMs = begunMs + 1000 * seconds;
  const payloads = Array.from({ length: payloadCount }, () => crypto.getRandomValues(new Uint8Array(bytes)));
  const proposer = async () => {
    for (let now = performance.now(); now < endMs; ) {
      await propose(payloads[latenciesMs.length % payloadCount] as Uint8Array);
      const done = performance.now();
      latenciesMs.push(done - now);
      now = done;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, proposer));
  const sorted = latenciesMs.sort((left, right) => left - right);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  const taken = (performance.now() - begunMs) / 1000;
  return { entries: sorted.length, seconds: taken, latenciesMs: [at(0.5), at(0.99), at(1)] };
}
