/** One value of a metric. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly timeMs?: number | undefined;
  /** Added to the name, as in `_bucket` of a histogram. */
  readonly suffix?: string | undefined;
}

export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly samples: readonly Sample[];
}

export const expositionType = "text/plain; version=0.0.4; charset=utf-8";

/** Returns metrics in Prometheus' text format. Leaves out families without samples. */
export function exposition(families: readonly MetricFamily[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, help, type, samples }) => {
      const lines = samples.map((sample) => line(name, sample));
      return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
    })
    .join("");
}

function line(name: string, { labels, value, timeMs, suffix = "" }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  const set = pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
  return `${name}${suffix}${set} ${numberText(value)}${timeMs === undefined ? "" : ` ${Math.round(timeMs)}`}\n`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  return String(value);
}
