import type { TruncationOptions } from "./audit-options.ts";
import type { EncodeEvent } from "./encode-event.ts";
import type { RotatingFileOptions } from "./rotating-file.ts";

export interface LogBackendOptions extends RotatingFileOptions {
  readonly encode: EncodeEvent;
  /**
   * `batch` writes in the background. `blocking` writes the events of one turn of the event loop at its end; an event
   * that cannot be written is reported and lost. `blocking-strict` writes each event at once, and fails the request
   * otherwise.
   */
  readonly mode: "batch" | "blocking" | "blocking-strict";
  /** The limits; at most `batchBytesMax` are written at once. */
  readonly truncation: TruncationOptions | undefined;
  /** Counts events that could not be written. */
  readonly lost: { value: number };
  onError(error: unknown): void;
}
