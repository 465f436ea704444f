import { writeSync } from "node:fs";
import type { AuditBackend } from "./backend.ts";
import { BatchLog } from "./batch-log.ts";
import type { AuditEvent } from "./event.ts";
import { LineBuffer } from "./line-buffer.ts";
import type { LogBackendOptions } from "./log-backend-options.ts";
import { RotatingFile } from "./rotating-file.ts";

/** Number of waiting bytes from which they are written at once. */
const bufferBytes = 256 * 1024;

const standardOutput = 1;

const standardOutputFile = {
  write: (bytes: Uint8Array) => void writeSync(standardOutput, bytes),
  writeLater: async (bytes: Uint8Array) => void writeSync(standardOutput, bytes),
  close() {},
};

type Out = Pick<RotatingFile, "write" | "writeLater" | "close">;

/** Writes events as lines of a file, or of the standard output for `-`. @throws Error if the file cannot be opened */
export function logBackend(options: LogBackendOptions): AuditBackend {
  const out: Out = options.file === "-" ? standardOutputFile : new RotatingFile(options);
  switch (options.mode) {
    case "batch":
      return new BatchLog(out, options);
    case "blocking":
      return new BlockingLog(out, options);
    case "blocking-strict":
      return strictBackend(out, options);
  }
}

function strictBackend(out: Out, { encode, lost }: LogBackendOptions): AuditBackend {
  const line = new LineBuffer(bufferBytes);
  return {
    write(event) {
      if (!encode(line, event)) return;
      line.text("\n");
      try {
        out.write(line.content);
      } catch (error) {
        lost.value++;
        throw error;
      } finally {
        line.remove();
      }
    },
    close: async () => out.close(),
  };
}

class BlockingLog implements AuditBackend {
  readonly #out: Out;
  readonly #options: LogBackendOptions;
  readonly #batchBytesMax: number;
  readonly #lines = new LineBuffer(bufferBytes);
  #events = 0;
  #failing = false;

  constructor(out: Out, options: LogBackendOptions) {
    this.#out = out;
    this.#options = options;
    this.#batchBytesMax = Math.min(bufferBytes, options.truncation?.batchBytesMax ?? bufferBytes);
  }

  write(event: AuditEvent): void {
    const lines = this.#lines;
    const before = lines.length;
    if (!this.#options.encode(lines, event)) return;
    lines.text("\n");
    if (before === 0) setImmediate(() => this.#flush());
    else if (lines.length > this.#batchBytesMax) this.#flush(before);
    this.#events++;
  }

  async close(): Promise<void> {
    this.#flush();
    this.#out.close();
  }

  /** Writes the first `bytes` bytes, or all. */
  #flush(bytes = this.#lines.length): void {
    if (bytes === 0) return;
    try {
      this.#out.write(this.#lines.content.subarray(0, bytes));
      this.#failing = false;
    } catch (error) {
      this.#options.lost.value += this.#events;
      // Report consecutive failures once, so that a full disk does not flood the log too.
      if (!this.#failing) this.#options.onError(error);
      this.#failing = true;
    }
    this.#lines.remove(bytes);
    this.#events = 0;
  }
}
