import type { LogFormat, TruncationOptions } from "./audit-options.ts";
import { type AuditEvent, writeEvent } from "./event.ts";
import { legacyText } from "./legacy-text.ts";
import type { LineBuffer } from "./line-buffer.ts";
import { levels } from "./policy.ts";
import { truncatedAnnotation } from "./recording.ts";

/** Encodes an event without a line break. Returns false and writes nothing if the event is dropped. */
export type EncodeEvent = (out: LineBuffer, event: AuditEvent) => boolean;

export interface EventEncoding {
  readonly format: LogFormat;
  readonly truncation: TruncationOptions | undefined;
  /** Counter of dropped events. */
  readonly dropped: { value: number };
  /** Receives the first of consecutive drops. */
  onError(error: unknown): void;
}

export function eventEncoder({ format, truncation, dropped, onError }: EventEncoding): EncodeEvent {
  const write = format === "json" ? writeEvent : writeLegacy;
  if (truncation === undefined) {
    return (out, event) => {
      write(out, event);
      return true;
    };
  }
  const { eventBytesMax } = truncation;
  let dropping = false;
  return (out, event) => {
    const fitting = truncate(out, event, eventBytesMax);
    if (fitting === undefined) {
      dropped.value++;
      if (!dropping) onError(new Error(`an event of more than ${eventBytesMax} bytes without its bodies is dropped`));
    } else write(out, fitting);
    dropping = fitting === undefined;
    return !dropping;
  };
}

function writeLegacy(out: LineBuffer, event: AuditEvent): void {
  out.text(legacyText(event));
}

/** Returns the event, reduced if it is too large. Its size is that of a JSON line, whatever the format. */
function truncate(scratch: LineBuffer, event: AuditEvent, bytesMax: number): AuditEvent | undefined {
  if (lineBytes(scratch, event) <= bytesMax) return event;
  if (levels.indexOf(event.level) < levels.indexOf("Request")) return undefined;
  const { decision, reason, more = [] } = event.annotations;
  const annotations = { decision, reason, more: new Map([...more, [truncatedAnnotation, "true"]]) };
  const rest = { ...event, requestObject: undefined, responseObject: undefined, annotations };
  return lineBytes(scratch, rest) <= bytesMax ? rest : undefined;
}

function lineBytes(scratch: LineBuffer, event: AuditEvent): number {
  const start = scratch.length;
  writeEvent(scratch, event);
  const bytes = scratch.length - start + 1;
  scratch.cutTo(start);
  return bytes;
}
