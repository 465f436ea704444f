import { writeSync } from "node:fs";
import type { AuditBackend } from "./backend.ts";
import { RotatingFile, type RotatingFileOptions } from "./rotating-file.ts";

/** What is waiting to be written is written at once when it is this long. */
const waitingCharactersMax = 1024 * 1024;

export interface LogBackendOptions extends RotatingFileOptions {
  /**
   * `batch` and `blocking` write what one turn of the event loop has recorded in one piece, at its end; an event that
   * cannot be written is reported and lost. `blocking-strict` writes each at once and fails the request otherwise.
   */
  readonly mode: "batch" | "blocking" | "blocking-strict";
  /** Counts events that could not be written. */
  readonly lost: { value: number };
  onError(error: unknown): void;
}

const standardOutput = 1;

const standardOutputFile = {
  write: (text: string) => void writeSync(standardOutput, text),
  close() {},
};

/** Events as lines of a file; `-` is the standard output. @throws Error when the file cannot be opened */
export function logBackend(options: LogBackendOptions): AuditBackend {
  const { lost, onError } = options;
  const out = options.file === "-" ? standardOutputFile : new RotatingFile(options);
  if (options.mode === "blocking-strict") return strictBackend(out, lost);
  let waiting: string[] = [];
  let characters = 0;
  let failing = false;
  const flush = () => {
    if (waiting.length === 0) return;
    const events = waiting;
    waiting = [];
    characters = 0;
    try {
      out.write(`${events.join("\n")}\n`);
      failing = false;
    } catch (error) {
      lost.value += events.length;
      // Once for a row of failures: a full disk must not flood the log too.
      if (!failing) onError(error);
      failing = true;
    }
  };
  return {
    write(event) {
      if (waiting.length === 0) setImmediate(flush);
      waiting.push(event);
      characters += event.length;
      if (characters > waitingCharactersMax) flush();
    },
    async close() {
      flush();
      out.close();
    },
  };
}

function strictBackend(out: Pick<RotatingFile, "write" | "close">, lost: { value: number }): AuditBackend {
  return {
    write(event) {
      try {
        out.write(`${event}\n`);
      } catch (error) {
        lost.value++;
        throw error;
      }
    },
    close: async () => out.close(),
  };
}
