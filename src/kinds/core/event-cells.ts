import { ageOf } from "../../api/codec/table/human-duration.ts";
import { numberIn, structIn, textIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";

/** Events of both groups: core/v1 calls some fields otherwise than events.k8s.io/v1 does. */
export function eventCells(event: JsonObject, nowMs: number): Cells {
  const first = textIn(event, "firstTimestamp") || textIn(event, "deprecatedFirstTimestamp");
  const firstSeen = ageOf(first || textIn(event, "eventTime"), nowMs);
  return {
    "Last Seen": lastSeen(event, firstSeen, nowMs),
    Type: textIn(event, "type"),
    Reason: textIn(event, "reason"),
    Object: objectText(regarding(event)),
    Subobject: textIn(regarding(event), "fieldPath"),
    Source: sourceText(event),
    Message: (textIn(event, "message") || textIn(event, "note")).trim(),
    "First Seen": firstSeen,
    Count: countOf(event),
  };
}

function lastSeen(event: JsonObject, firstSeen: string, nowMs: number): string {
  const observed = textIn(structIn(event, "series"), "lastObservedTime");
  const last = observed || textIn(event, "lastTimestamp") || textIn(event, "deprecatedLastTimestamp");
  return last === "" ? firstSeen : ageOf(last, nowMs);
}

function regarding(event: JsonObject): JsonObject {
  return structIn(event, event["involvedObject"] === undefined ? "regarding" : "involvedObject");
}

function objectText(object: JsonObject): string {
  const kind = textIn(object, "kind").toLowerCase();
  const name = textIn(object, "name");
  return name === "" ? kind : `${kind}/${name}`;
}

function sourceText(event: JsonObject): string {
  const source = structIn(event, event["source"] === undefined ? "deprecatedSource" : "source");
  const component =
    textIn(source, "component") || textIn(event, "reportingComponent") || textIn(event, "reportingController");
  const host = textIn(source, "host") || textIn(event, "reportingInstance");
  return host === "" ? component : `${component}, ${host}`;
}

function countOf(event: JsonObject): number {
  const count = numberIn(event, "count") || numberIn(event, "deprecatedCount");
  return numberIn(structIn(event, "series"), "count") || count || 1;
}
