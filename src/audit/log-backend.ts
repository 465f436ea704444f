import { writeSync } from "node:fs";
import type { TruncationOptions } from "./audit-options.ts";
import type { TextBackend } from "./backend.ts";
import { RotatingFile, type RotatingFileOptions } from "./rotating-file.ts";

/** What waits is written at once when there is so much of it. */
const charactersMax = 64 * 1024;
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
  /** No more than `batchBytesMax` are written at once. */
  readonly truncation: TruncationOptions | undefined;
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
export function logBackend(options: LogBackendOptions): TextBackend {
  const out: Out = options.file === "-" ? standardOutputFile : new RotatingFile(options);
  return options.mode === "blocking-strict" ? strictBackend(out, options.lost) : new BufferedLog(out, options);
}

function strictBackend(out: Out, lost: { value: number }): TextBackend {
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

/** Lines wait as texts, and are put into bytes together: a call into the runtime for each costs more than making it. */
class BufferedLog implements TextBackend {
  readonly #out: Out;
  readonly #options: LogBackendOptions;
  readonly #charactersMax: number;
  readonly #buffer: Buffer;
  #lines: string[] = [];
  #characters = 0;
  #failing = false;

  constructor(out: Out, options: LogBackendOptions) {
    this.#out = out;
    this.#options = options;
    const batchBytesMax = options.truncation?.batchBytesMax ?? Number.POSITIVE_INFINITY;
    this.#charactersMax = Math.min(charactersMax, Math.floor(batchBytesMax / bytesPerCharacterMax));
    this.#buffer = Buffer.allocUnsafeSlow(this.#charactersMax * bytesPerCharacterMax);
  }

  write(event: string): void {
    const characters = event.length + 1;
    if (this.#characters + characters > this.#charactersMax) this.#flush();
    if (this.#lines.length === 0) this.#flushLater();
    this.#lines.push(event);
    this.#characters += characters;
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
    const lines = this.#lines;
    if (lines.length === 0) return;
    this.#lines = [];
    this.#characters = 0;
    try {
      this.#out.write(this.#bytesOf(`${lines.join("\n")}\n`));
      this.#failing = false;
    } catch (error) {
      this.#options.lost.value += lines.length;
      // Once for a row of failures: a full disk must not flood the log too.
      if (!this.#failing) this.#options.onError(error);
      this.#failing = true;
    }
  }

  /** In one buffer that is used again and again, where they fit. */
  #bytesOf(text: string): Uint8Array {
    if (text.length > this.#charactersMax) return Buffer.from(text);
    return this.#buffer.subarray(0, this.#buffer.write(text));
  }
}
