/** One family of a text in Prometheus' format. */
export interface TextFamily {
  readonly type: "counter" | "gauge" | "histogram" | "summary";
  readonly samples: readonly TextSample[];
}

interface TextSample {
  /** The name of the family, with the suffix `_bucket`, `_sum` or `_count` in a histogram or a summary. */
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

const nameForm = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const sampleForm = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const labelForm = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(?:,|$)/gy;
const types = new Set<string>(["counter", "gauge", "histogram", "summary"]);

/**
 * Parses a text strictly: each family is contiguous after its HELP and TYPE, no sample occurs twice, counters are not
 * negative, and histograms are cumulative and complete.
 * @throws Error that quotes the line
 */
export function parseExposition(text: string): Map<string, TextFamily> {
  if (!text.endsWith("\n")) throw new Error("the text does not end with a line break");
  const families = new Map<string, TextFamily & { readonly samples: TextSample[] }>();
  const known = new Set<string>();
  let helped = "";
  let current: [name: string, family: TextFamily & { readonly samples: TextSample[] }] | undefined;
  for (const line of text.slice(0, -1).split("\n")) {
    if (line === "") continue;
    const [, keyword, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (keyword === "HELP") {
      if (families.has(name) || !nameForm.test(name)) throw new Error(`a second or bad HELP: ${line}`);
      helped = name;
    } else if (keyword === "TYPE") {
      if (name !== helped || families.has(name) || !types.has(rest))
        throw new Error(`a misplaced or bad TYPE: ${line}`);
      current = [name, { type: rest as TextFamily["type"], samples: [] }];
      families.set(...current);
    } else {
      const sample = parseSample(line);
      if (current === undefined || !belongsTo(sample.name, ...current))
        throw new Error(`outside of its family: ${line}`);
      const key = `${sample.name} ${[...sample.labels].map(String).toSorted().join()}`;
      if (known.has(key)) throw new Error(`twice: ${line}`);
      known.add(key);
      current[1].samples.push(sample);
    }
  }
  for (const [name, family] of families) checkFamily(name, family);
  return families;
}

function parseSample(line: string): TextSample {
  const [, name = "", labelText = "", value = ""] = sampleForm.exec(line) ?? [];
  if (name === "") throw new Error(`not a sample: ${line}`);
  const labels = new Map<string, string>();
  let length = 0;
  for (const [whole, label = "", content = ""] of labelText.matchAll(labelForm)) {
    if (labels.has(label)) throw new Error(`a label occurs twice: ${line}`);
    labels.set(label, content);
    length += whole.length;
  }
  if (length !== labelText.length) throw new Error(`bad labels: ${line}`);
  return { name, labels, value: numberOf(value, line) };
}

function numberOf(text: string, line: string): number {
  if (text === "+Inf") return Number.POSITIVE_INFINITY;
  if (text === "-Inf") return Number.NEGATIVE_INFINITY;
  const value = Number(text);
  if (Number.isNaN(value) && text !== "NaN") throw new Error(`a bad value: ${line}`);
  return value;
}

function belongsTo(sample: string, name: string, { type }: TextFamily): boolean {
  if (type === "histogram") return ["_bucket", "_sum", "_count"].some((end) => sample === name + end);
  return sample === name || (type === "summary" && ["_sum", "_count"].some((end) => sample === name + end));
}

function checkFamily(name: string, { type, samples }: TextFamily): void {
  if (type === "counter" && samples.some(({ value }) => !(value >= 0))) throw new Error(`${name} counts below zero`);
  if (type === "histogram") checkHistogram(name, samples);
}

function checkHistogram(name: string, samples: readonly TextSample[]): void {
  const series = Map.groupBy(samples, ({ labels }) =>
    [...labels]
      .filter(([label]) => label !== "le")
      .map(String)
      .toSorted()
      .join(),
  );
  for (const [labels, own] of series) {
    const buckets = own.filter((sample) => sample.name === `${name}_bucket`);
    const bounds = buckets.map((bucket) => numberOf(bucket.labels.get("le") ?? "none", name));
    const ascends = (values: readonly number[], isEqualAllowed: boolean) =>
      values.every(
        (value, at) => at === 0 || value > (values[at - 1] as number) || (isEqualAllowed && value === values[at - 1]),
      );
    const counts = buckets.map(({ value }) => value);
    const count = own.find((sample) => sample.name === `${name}_count`)?.value;
    const isComplete = own.length === buckets.length + 2 && bounds.at(-1) === Number.POSITIVE_INFINITY;
    if (!isComplete || !ascends(bounds, false) || !ascends(counts, true) || counts.at(-1) !== count) {
      throw new Error(`a bad histogram: ${name}{${labels}}`);
    }
  }
}
