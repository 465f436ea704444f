import { nextTurn } from "../../../process/turn.ts";
import type { ByteSink } from "../../../request/exchange.ts";
import type { LogLine } from "../../runtime/runtime.ts";
import type { LogOptions } from "./log-options.ts";

/** Bytes that are collected before they are sent, if they come quickly. */
const chunkBytes = 32 * 1024;
/** Lines that are counted in one turn of the event loop. */
const linesPerTurn = 1_000;
const newline = 0x0a;

/** Reads the lines of a log from the oldest on. */
export type ReadLog = (options: { follow: boolean; signal: AbortSignal }) => AsyncIterable<LogLine>;

/** Writes the lines that the options select. Ends when the log does, or the client is gone. */
export async function writeLog(read: ReadLog, options: LogOptions, sink: ByteSink): Promise<void> {
  const { follow, tailLines, timestamps, sinceMs } = options;
  const { signal } = sink;
  let linesToSkip = 0;
  if (tailLines !== undefined) {
    // Counting first takes no memory, whatever the number of lines.
    const lines = await countLines(read({ follow: false, signal }));
    linesToSkip = Math.max(0, lines - tailLines);
  }
  const writer = new LogWriter(sink, options.limitBytes);
  let isLineStart = true;
  for await (const line of read({ follow, signal })) {
    if (signal.aborted) break;
    const isEnd = line.text.at(-1) === newline;
    const isSelected = linesToSkip === 0 && (sinceMs === undefined || line.timeMs >= sinceMs);
    if (linesToSkip > 0 && isEnd) linesToSkip--;
    if (isSelected) {
      if (timestamps && isLineStart) writer.add(Buffer.from(`${line.time} `));
      writer.add(line.text);
      if (writer.isFull) break;
      await writer.room();
    }
    isLineStart = isEnd;
  }
  writer.flush();
}

async function countLines(lines: AsyncIterable<LogLine>): Promise<number> {
  let count = 0;
  for await (const { text } of lines) {
    if (text.at(-1) === newline) count++;
    if (count % linesPerTurn === 0) await nextTurn();
  }
  return count;
}

/** Joins lines that come quickly, and sends single ones at once. */
class LogWriter {
  readonly #sink: ByteSink;
  /** Bytes that the client still wants. */
  #left: number;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #timer: ReturnType<typeof setImmediate> | undefined;
  #hasRoom = true;
  #isTurnOver = false;

  constructor(sink: ByteSink, limitBytes = Number.POSITIVE_INFINITY) {
    this.#sink = sink;
    this.#left = limitBytes;
  }

  /** Reports whether the limit is reached. */
  get isFull(): boolean {
    return this.#left === 0;
  }

  add(bytes: Uint8Array): void {
    const kept = bytes.byteLength > this.#left ? bytes.subarray(0, this.#left) : bytes;
    this.#left -= kept.byteLength;
    this.#parts.push(kept);
    this.#bytes += kept.byteLength;
    if (this.#bytes >= chunkBytes) this.flush();
    else this.#timer ??= setImmediate(() => this.flush());
  }

  flush(): void {
    if (this.#timer !== undefined) clearImmediate(this.#timer);
    this.#timer = undefined;
    if (this.#bytes === 0) return;
    this.#hasRoom = this.#sink.write(Buffer.concat(this.#parts));
    this.#isTurnOver = true;
    this.#parts = [];
    this.#bytes = 0;
  }

  /** Waits until the client keeps up. Gives way to others after each chunk, because a log may come from memory. */
  async room(): Promise<void> {
    if (!this.#hasRoom) await this.#sink.drained();
    else if (this.#isTurnOver) await nextTurn();
    this.#hasRoom = true;
    this.#isTurnOver = false;
  }
}
