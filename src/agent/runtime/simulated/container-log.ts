import type { LogLine } from "../runtime.ts";
import type { SimulatedContainer } from "./simulated-container.ts";

const encoder = new TextEncoder();
/** Wait of a follower between two looks at the container. */
const followMs = 200;

interface PlannedLine {
  readonly timeMs: number;
  readonly stream: "stdout" | "stderr";
  readonly text: string;
}

/**
 * Yields the log of a container. Nothing is kept: the lines are made from what is known of the container, so a log reads
 * the same each time.
 */
export async function* containerLog(
  container: SimulatedContainer,
  { follow, signal }: { readonly follow: boolean; readonly signal: AbortSignal },
  nowMs: () => number,
): AsyncGenerator<LogLine> {
  let sent = 0;
  for (;;) {
    const isOver = container.state.kind === "exited";
    for (const line of linesUntil(container, nowMs()).slice(sent)) {
      if (signal.aborted) return;
      sent++;
      yield logLine(line);
    }
    if (!follow || isOver || signal.aborted) return;
    await Bun.sleep(followMs);
  }
}

function linesUntil(container: SimulatedContainer, nowMs: number): PlannedLine[] {
  const { state, script } = container;
  if (state.kind !== "running" && state.kind !== "exited") return [];
  const endMs = state.kind === "exited" ? state.finishedAtMs : nowMs;
  const lines =
    script === undefined
      ? ownLines(container, state.startedAtMs)
      : script.outputs.flatMap(({ afterMs, stream, text }) =>
          linesOf(text).map((line) => ({ timeMs: state.startedAtMs + afterMs, stream, text: line })),
        );
  return lines.filter(({ timeMs }) => timeMs <= endMs);
}

function ownLines({ name, image, behaviour, state }: SimulatedContainer, startedAtMs: number): PlannedLine[] {
  const stdout = (text: string, timeMs = startedAtMs): PlannedLine => ({ timeMs, stream: "stdout", text: `${text}\n` });
  const lines = [
    stdout(`simulated container ${name} of image ${image} has started`),
    ...behaviour.logs.map((text) => stdout(text)),
  ];
  if (state.kind !== "exited") return lines;
  return [...lines, stdout(`simulated container ${name} exits with code ${state.exitCode}`, state.finishedAtMs)];
}

/** Splits a text after its newlines. */
function linesOf(text: string): string[] {
  return text.split(/(?<=\n)/);
}

function logLine({ timeMs, stream, text }: PlannedLine): LogLine {
  const time = new Date(timeMs).toISOString().replace("Z", "000000Z");
  return { timeMs, time, stream, text: encoder.encode(text) };
}
