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
  onError(error: unknown): void;
}

const standardOutput = 1;

/** Events as lines of a file; `-` is the standard output. @throws Error when the file cannot be opened */
export function logBackend(options: LogBackendOptions): AuditBackend {
  const out = options.file === "-" ? standardOutputFile : new RotatingFile(options);
  if (options.mode === "blocking-strict") {
    return { write: (event) => out.write(`${event}\n`), close: async () => out.close() };
  }
  let waiting = "";
  const flush = () => {
    const text = waiting;
    waiting = "";
    if (text === "") return;
    try {
      out.write(text);
    } catch (error) {
      options.onError(error);
    }
  };
  return {
    write(event) {
      if (waiting === "") setImmediate(flush);
      waiting += `${event}\n`;
      if (waiting.length > waitingCharactersMax) flush();
    },
    async close() {
      flush();
      out.close();
    },
  };
}

const standardOutputFile = {
  write: (text: string) => void writeSync(standardOutput, text),
  close() {},
};
