import { writeSync } from "node:fs";
import type { AuditBackend } from "./backend.ts";
import { RotatingFile, type RotatingFileOptions } from "./rotating-file.ts";

const newLine = 0x0a;
/** What waits is written at once when there is so much of it. */
const bufferBytes = 256 * 1024;
/** How long events wait in mode `batch`. */
const batchWaitMs = 5;
const bytesPerCharacterMax = 3;

export interface LogBackendOptions extends RotatingFileOptions {
  /**
   * `blocking` writes what one turn of the event loop has recorded in one piece, at its end; `batch` what a few
   * milliseconds have; an event that cannot be written is reported and lost. `blocking-strict` writes each at once and
   * fails the request otherwise.
   */
  readonly mode: "batch" | "blocking" | "blocking-strict";
  /** Counts events that could not be written. */
  readonly lost: { value: number };
  onError(error: unknown): void;
}

const standardOutput = 1;

const standardOutputFile = {
  write: (bytes: Uint8Array) => void writeSync(standardOutput, bytes),
  close() {},
};

type Out = Pick<RotatingFile, "write" | "close">;

/** Events as lines of a file; `-` is the standard output. @throws Error when the file cannot be opened */
export function logBackend(options: LogBackendOptions): AuditBackend {
  const out: Out = options.file === "-" ? standardOutputFile : new RotatingFile(options);
  return options.mode === "blocking-strict" ? strictBackend(out, options.lost) : new BufferedLog(out, options);
}

function strictBackend(out: Out, lost: { value: number }): AuditBackend {
  return {
    write(event) {
      try {
        out.write(Buffer.from(`${event}\n`));
      } catch (error) {
        lost.value++;
        throw error;
      }
    },
    close: async () => out.close(),
  };
}

/** Lines are put into one buffer that is used again and again. */
class BufferedLog implements AuditBackend {
  readonly #out: Out;
  readonly #options: LogBackendOptions;
  readonly #buffer = Buffer.allocUnsafeSlow(bufferBytes);
  #length = 0;
  #events = 0;
  #failing = false;

  constructor(out: Out, options: LogBackendOptions) {
    this.#out = out;
    this.#options = options;
  }

  write(event: string): void {
    const bytesMax = event.length * bytesPerCharacterMax + 1;
    if (this.#length + bytesMax > bufferBytes) this.#flush();
    if (this.#events === 0) this.#flushLater();
    this.#events++;
    if (bytesMax > bufferBytes) {
      this.#send(Buffer.from(`${event}\n`));
      return;
    }
    this.#length += this.#buffer.write(event, this.#length, "utf8");
    this.#buffer[this.#length++] = newLine;
  }

  async close(): Promise<void> {
    this.#flush();
    this.#out.close();
  }

  #flushLater(): void {
    const { mode, clock } = this.#options;
    if (mode === "batch") clock.after(batchWaitMs, () => this.#flush());
    else setImmediate(() => this.#flush());
  }

  #flush(): void {
    if (this.#length > 0) this.#send(this.#buffer.subarray(0, this.#length));
  }

  #send(bytes: Uint8Array): void {
    try {
      this.#out.write(bytes);
      this.#failing = false;
    } catch (error) {
      this.#options.lost.value += this.#events;
      // Once for a row of failures: a full disk must not flood the log too.
      if (!this.#failing) this.#options.onError(error);
      this.#failing = true;
    }
    this.#length = 0;
    this.#events = 0;
  }
}
