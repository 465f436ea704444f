import type { TruncationOptions } from "./audit-options.ts";
import type { EncodeEvent } from "./encode-event.ts";
import type { RotatingFileOptions } from "./rotating-file.ts";

export interface LogBackendOptions extends RotatingFileOptions {
  readonly encode: EncodeEvent;
  /**
   * `batch` writes in the background; `blocking` writes what one turn of the event loop has recorded in one piece, at its
   * end; an event that cannot be written is reported and lost. `blocking-strict` writes each at once and fails the request
   * otherwise.
   */
  readonly mode: "batch" | "blocking" | "blocking-strict";
  /** No more than `batchBytesMax` are written at once. */
  readonly truncation: TruncationOptions | undefined;
  /** Counts events that could not be written. */
  readonly lost: { value: number };
  onError(error: unknown): void;
}
