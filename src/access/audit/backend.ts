import type { EncodeEvent } from "./encode-event.ts";
import type { AuditEvent } from "./event.ts";
import { LineBuffer } from "./line-buffer.ts";

const scratchBytes = 16 * 1024;

/** Takes events, and keeps no part of them that may change later. */
export interface AuditBackend {
  /**
   * Writes an event. Returns a promise only if the request must wait for it.
   * @throws Error, or rejects, only if a request must not continue unrecorded
   */
  write(event: AuditEvent): void | Promise<void>;
  /** Writes pending events. */
  close(): Promise<void>;
}

/** A backend that takes encoded events: texts without line breaks. */
export interface TextBackend {
  write(event: string): void | Promise<void>;
  close(): Promise<void>;
}

export function encodedBackend(encode: EncodeEvent, backend: TextBackend): AuditBackend {
  const scratch = new LineBuffer(scratchBytes);
  return {
    write(event) {
      scratch.remove();
      return encode(scratch, event) ? backend.write(scratch.toString()) : undefined;
    },
    close: () => backend.close(),
  };
}

/** Combines several backends. */
export function allBackends(backends: readonly AuditBackend[]): AuditBackend {
  const [only] = backends;
  if (only !== undefined && backends.length === 1) return only;
  return {
    write(event) {
      const waits = backends.map((backend) => backend.write(event)).filter((wait) => wait !== undefined);
      return waits.length === 0 ? undefined : Promise.all(waits).then(() => undefined);
    },
    close: async () => void (await Promise.all(backends.map((backend) => backend.close()))),
  };
}
