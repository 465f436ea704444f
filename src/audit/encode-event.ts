import type { LogFormat, TruncationOptions } from "./audit-options.ts";
import { type AuditEvent, eventText } from "./event.ts";
import { legacyText } from "./legacy-text.ts";
import { levels } from "./policy.ts";
import { truncatedAnnotation } from "./recording.ts";

/** What a backend is given of an event; undefined for one that is dropped. */
export type EncodeEvent = (event: AuditEvent) => string | undefined;

export interface EventEncoding {
  readonly format: LogFormat;
  readonly truncation: TruncationOptions | undefined;
  /** Counts events that were dropped. */
  readonly dropped: { value: number };
  /** Told of the first of a row that was dropped. */
  onError(error: unknown): void;
}

export function eventEncoder({ format, truncation, dropped, onError }: EventEncoding): EncodeEvent {
  const encode = format === "json" ? eventText : legacyText;
  if (truncation === undefined) return encode;
  const { eventBytesMax } = truncation;
  let dropping = false;
  return (event) => {
    const fitting = truncate(event, eventBytesMax);
    if (fitting === undefined) {
      dropped.value++;
      if (!dropping) onError(new Error(`an event of more than ${eventBytesMax} bytes without its bodies is dropped`));
    }
    dropping = fitting === undefined;
    return fitting && encode(fitting);
  };
}

/** The event, or as much of it as is not too large; it counts as a line of JSON, whatever the format. */
function truncate(event: AuditEvent, bytesMax: number): AuditEvent | undefined {
  if (lineBytes(event) <= bytesMax) return event;
  if (levels.indexOf(event.level) < levels.indexOf("Request")) return undefined;
  const { decision, reason, more = [] } = event.annotations;
  const annotations = { decision, reason, more: new Map([...more, [truncatedAnnotation, "true"]]) };
  const rest = { ...event, requestObject: undefined, responseObject: undefined, annotations };
  return lineBytes(rest) <= bytesMax ? rest : undefined;
}

function lineBytes(event: AuditEvent): number {
  return Buffer.byteLength(eventText(event)) + 1;
}
