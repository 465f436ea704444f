import { nextTurn } from "../../process/turn.ts";
import { valueText } from "./exposition.ts";

/**
 * Gauges of which every process has its own part. For any other, the process that keeps the store speaks for all: it
 * knows the store, the controllers and the configuration.
 */
const partialGauges =
  /^(apiserver_current_inflight_requests|apiserver_longrunning_requests|apiserver_current_inqueue_requests|apiserver_flowcontrol_(current_(executing|inqueue)_(requests|seats)|nominal_limit_seats|current_limit_seats|lower_limit_seats|upper_limit_seats|demand_seats.*|target_seats|request_concurrency_(in_use|limit)|read_vs_write_current_requests.*)|process_(resident|virtual)_memory_bytes|process_open_fds)$/;

interface Series {
  readonly name: string;
  value: number;
}

/** A family with its series in the order in which they came. */
interface Family {
  /** Its lines HELP and TYPE. */
  readonly head: string;
  readonly isSummed: boolean;
  readonly series: Map<string, Series>;
}

/** Number of lines after which other work has a turn: a few milliseconds. */
const sliceLines = 2_000;

/**
 * Adds up the metrics of the processes of one server, in the text format. Counters and histograms are sums. A gauge is a
 * sum if every process has a part of it; otherwise the first text that has the series decides.
 */
export async function addMetrics(first: string, others: readonly string[]): Promise<string> {
  const families = new Map<string, Family>();
  for (const text of [first, ...others]) await add(families, text);
  let sum = "";
  for (const { head, series } of families.values()) {
    sum += head;
    for (const { name, value } of series.values()) sum += `${name} ${valueText(value)}\n`;
  }
  return sum;
}

async function add(families: Map<string, Family>, text: string): Promise<void> {
  let help = "";
  let family: Family | undefined;
  let lines = 0;
  for (let start = 0, end = 0; start < text.length; start = end + 1) {
    end = text.indexOf("\n", start);
    if (end === -1) end = text.length;
    const line = text.slice(start, end);
    if (++lines % sliceLines === 0) await nextTurn();
    if (line.startsWith("# HELP ")) help = line;
    else if (line.startsWith("# TYPE ")) family = familyOf(families, help, line);
    else if (line !== "" && family !== undefined) addSample(family, line);
  }
}

/** Returns the family of the line `# TYPE <name> <type>`. */
function familyOf(families: Map<string, Family>, help: string, line: string): Family {
  const [, , name = "", type = ""] = line.split(" ");
  let family = families.get(name);
  if (family === undefined) {
    const isSummed = type !== "gauge" || partialGauges.test(name);
    family = { head: `${help}\n${line}\n`, isSummed, series: new Map() };
    families.set(name, family);
  }
  return family;
}

function addSample({ series, isSummed }: Family, line: string): void {
  const at = line.lastIndexOf(" ");
  const name = line.slice(0, at);
  const value = parseValue(line.slice(at + 1));
  const known = series.get(name);
  if (known === undefined) series.set(name, { name, value });
  else if (isSummed) known.value += value;
}

function parseValue(text: string): number {
  if (text === "+Inf") return Number.POSITIVE_INFINITY;
  return text === "-Inf" ? Number.NEGATIVE_INFINITY : Number(text);
}
