/** Time between two samples from which a rate is computed. Samples closer together use the rate before. */
const sampleIntervalMs = 1_000;
/** Age from which a sample is forgotten, because its container is gone or nobody asks for it. */
const sampleAgeMsMax = 10 * 60_000;

export interface CpuSample {
  readonly id: string;
  readonly timeMs: number;
  readonly cpuNanoseconds: number;
}

interface KeptSample extends CpuSample {
  /** Nanoseconds of CPU time per second; undefined after the first sample. */
  readonly nanoCores: number | undefined;
}

/** Computes the current use of CPU from the growth of CPU times. */
export class CpuRates {
  readonly #samples = new Map<string, KeptSample>();

  /** Returns the current use by id, for those that were measured before. */
  update(measured: readonly CpuSample[], nowMs: number): ReadonlyMap<string, number> {
    const rates = new Map<string, number>();
    for (const sample of measured) {
      const next = nextSample(this.#samples.get(sample.id), sample);
      this.#samples.set(sample.id, next);
      if (next.nanoCores !== undefined) rates.set(sample.id, next.nanoCores);
    }
    for (const { id, timeMs } of this.#samples.values()) if (nowMs - timeMs > sampleAgeMsMax) this.#samples.delete(id);
    return rates;
  }
}

function nextSample(before: KeptSample | undefined, sample: CpuSample): KeptSample {
  if (before === undefined) return { ...sample, nanoCores: undefined };
  const elapsedMs = sample.timeMs - before.timeMs;
  // The system's time was set back. The time since the last sample is unknown, so the rate stays for now.
  if (elapsedMs < 0) return { ...sample, nanoCores: before.nanoCores };
  if (elapsedMs < sampleIntervalMs) return before;
  const grown = Math.max(0, sample.cpuNanoseconds - before.cpuNanoseconds);
  return { ...sample, nanoCores: Math.round((grown / elapsedMs) * 1_000) };
}
