import type { AuditBackend } from "./backend.ts";
import type { AuditEvent } from "./event.ts";
import { LineBuffer } from "./line-buffer.ts";
import type { LogBackendOptions } from "./log-backend-options.ts";
import type { RotatingFile } from "./rotating-file.ts";

const batchBytes = 256 * 1024;
/**
 * Size of the buffer, with room for events that arrive during a write. Allocating memory would cost more than everything
 * else.
 */
const bufferBytes = 2 * 1024 * 1024;
/** Time that events wait for others. */
const batchWaitMs = 50;
/** Maximum number of bytes that wait while the disk is busy. Further events are dropped and counted. */
const waitingBytesMax = 16 * 1024 * 1024;
const newLine = 0x0a;

/** Writes in the background, one write at a time; later events wait. A busy disk does not delay requests. */
export class BatchLog implements AuditBackend {
  readonly #out: Pick<RotatingFile, "writeLater" | "close">;
  readonly #options: LogBackendOptions;
  readonly #batchBytesMax: number;
  #waiting = new LineBuffer(bufferBytes);
  #leaving = new LineBuffer(bufferBytes);
  #timer: Disposable | undefined;
  #writing: Promise<void> | undefined;
  #failing = false;

  constructor(out: Pick<RotatingFile, "writeLater" | "close">, options: LogBackendOptions) {
    this.#out = out;
    this.#options = options;
    this.#batchBytesMax = Math.min(batchBytes, options.truncation?.batchBytesMax ?? bufferBytes);
  }

  write(event: AuditEvent): void {
    const waiting = this.#waiting;
    if (waiting.length >= waitingBytesMax) {
      this.#lose(1, new Error("audit events are dropped: the disk does not keep up"));
      return;
    }
    if (!this.#options.encode(waiting, event)) return;
    waiting.text("\n");
    if (waiting.length >= batchBytes) this.#start();
    else this.#timer ??= this.#options.clock.after(batchWaitMs, () => this.#start());
  }

  async close(): Promise<void> {
    this.#start();
    await this.#writing;
    this.#out.close();
  }

  #start(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    if (this.#waiting.length > 0) this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      [this.#waiting, this.#leaving] = [this.#leaving, this.#waiting];
      const bytes = this.#leaving.content;
      for (let start = 0, end = 0; start < bytes.length; start = end) {
        end = endOfBatch(bytes, start, this.#batchBytesMax);
        await this.#send(bytes.subarray(start, end));
      }
      this.#leaving.remove();
    }
    this.#writing = undefined;
  }

  async #send(lines: Buffer): Promise<void> {
    try {
      await this.#out.writeLater(lines);
      this.#failing = false;
    } catch (error) {
      this.#lose(countLines(lines), error);
    }
  }

  /**
   * Counts lost events. Reports only the first of consecutive losses, so that a full disk does not flood the log too.
   */
  #lose(events: number, error: unknown): void {
    this.#options.lost.value += events;
    if (!this.#failing) this.#options.onError(error);
    this.#failing = true;
  }
}

/** Returns the end of the last line that fits, or of the first line. */
function endOfBatch(bytes: Buffer, start: number, bytesMax: number): number {
  if (bytes.length - start <= bytesMax) return bytes.length;
  const last = bytes.lastIndexOf(newLine, start + bytesMax - 1);
  return (last >= start ? last : bytes.indexOf(newLine, start)) + 1;
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(newLine); at !== -1; at = bytes.indexOf(newLine, at + 1)) count++;
  return count;
}
