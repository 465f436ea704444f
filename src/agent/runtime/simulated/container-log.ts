import type { LogLine } from "../runtime.ts";
import type { SimulatedContainer } from "./simulated-container.ts";

const encoder = new TextEncoder();
/** Wait of a follower between two looks at the container. */
const followMs = 200;

interface PlannedLine {
  /** Time from the start of the container. */
  readonly afterMs: number;
  readonly timeMs: number;
  readonly stream: "stdout" | "stderr";
  readonly text: string;
}

export interface ContainerLogOptions {
  readonly follow: boolean;
  readonly signal: AbortSignal;
  /** Time from the start of the container before which lines are left out. */
  readonly fromMs?: number | undefined;
}

/**
 * Yields the log of a container. Nothing is kept: the lines are made from what is known of the container, so a log reads
 * the same each time.
 */
export async function* containerLog(
  container: SimulatedContainer,
  { follow, signal, fromMs = 0 }: ContainerLogOptions,
): AsyncGenerator<LogLine> {
  let sent = 0;
  for (;;) {
    const isOver = container.state.kind === "exited";
    const lines = linesUntilNow(container).filter(({ afterMs }) => afterMs >= fromMs);
    for (const line of lines.slice(sent)) {
      if (signal.aborted) return;
      sent++;
      yield logLine(line);
    }
    if (!follow || isOver || signal.aborted) return;
    await Bun.sleep(followMs);
  }
}

function linesUntilNow(container: SimulatedContainer): PlannedLine[] {
  const { state, script, elapsedMs } = container;
  if (state.kind !== "running" && state.kind !== "exited") return [];
  const { startedAtMs } = state;
  if (script === undefined) return ownLines(container, startedAtMs);
  return script.outputs
    .filter(({ afterMs }) => afterMs <= elapsedMs)
    .flatMap(({ afterMs, stream, text }) =>
      linesOf(text).map((line) => ({ afterMs, timeMs: startedAtMs + afterMs, stream, text: line })),
    );
}

function ownLines(
  { name, image, behaviour, state, elapsedMs }: SimulatedContainer,
  startedAtMs: number,
): PlannedLine[] {
  const begin = { afterMs: 0, timeMs: startedAtMs, stream: "stdout" } as const;
  const lines: PlannedLine[] = [
    { ...begin, text: `simulated container ${name} of image ${image} has started\n` },
    ...behaviour.logs.map((text) => ({ ...begin, text: `${text}\n` })),
  ];
  if (state.kind !== "exited") return lines;
  const text = `simulated container ${name} exits with code ${state.exitCode}\n`;
  return [...lines, { afterMs: elapsedMs, timeMs: state.finishedAtMs, stream: "stdout", text }];
}

/** Splits a text after its newlines. */
function linesOf(text: string): string[] {
  return text.split(/(?<=\n)/);
}

function logLine({ timeMs, stream, text }: PlannedLine): LogLine {
  const time = new Date(timeMs).toISOString().replace("Z", "000000Z");
  return { timeMs, time, stream, text: encoder.encode(text) };
}
