/** A result of a workload. `ceiling` is the result of the machine alone in the same run, in the same unit. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly ceiling?: number;
  readonly note?: string;
}

export interface Options {
  readonly seconds: number;
  /** Multiplies the number of objects. */
  readonly scale: number;
  /** The commit whose program the members run before they are upgraded; undefined for no upgrade. */
  readonly from: string | undefined;
}

export type Workload = (options: Options) => Promise<Figure[]>;

/** Prints a readable table, and then the same as one line of JSON. */
export function print(workload: string, figures: readonly Figure[]): void {
  const width = Math.max(...figures.map(({ name }) => name.length));
  console.log(`\n${workload}`);
  for (const { name, value, unit, ceiling, note } of figures) {
    const ratio =
      ceiling === undefined ? "" : `  ceiling ${number(ceiling)}, ${((100 * value) / ceiling).toFixed(0)} %`;
    console.log(
      `  ${name.padEnd(width)}  ${number(value).padStart(10)} ${unit}${ratio}${note === undefined ? "" : `  (${note})`}`,
    );
  }
  console.log(JSON.stringify({ workload, figures }));
}

function number(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
}

/** Returns the value below which `share` of the samples lie. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
