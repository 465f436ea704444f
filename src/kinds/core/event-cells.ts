import { ageOf } from "../../api/codec/table/human-duration.ts";
import { numberOf, objectOf, textOf } from "../../api/json-reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";

/** Events of both groups: core/v1 calls some fields otherwise than events.k8s.io/v1 does. */
export function eventCells(event: JsonObject, nowMs: number): Cells {
  const first = textOf(event["firstTimestamp"]) || textOf(event["deprecatedFirstTimestamp"]);
  const firstSeen = ageOf(first || textOf(event["eventTime"]), nowMs);
  return {
    "Last Seen": lastSeen(event, firstSeen, nowMs),
    Type: textOf(event["type"]),
    Reason: textOf(event["reason"]),
    Object: objectText(regarding(event)),
    Subobject: textOf(regarding(event)["fieldPath"]),
    Source: sourceText(event),
    Message: (textOf(event["message"]) || textOf(event["note"])).trim(),
    "First Seen": firstSeen,
    Count: countOf(event),
  };
}

function lastSeen(event: JsonObject, firstSeen: string, nowMs: number): string {
  const observed = textOf(objectOf(event["series"])["lastObservedTime"]);
  const last = observed || textOf(event["lastTimestamp"]) || textOf(event["deprecatedLastTimestamp"]);
  return last === "" ? firstSeen : ageOf(last, nowMs);
}

function regarding(event: JsonObject): JsonObject {
  return objectOf(event[event["involvedObject"] === undefined ? "regarding" : "involvedObject"]);
}

function objectText(object: JsonObject): string {
  const kind = textOf(object["kind"]).toLowerCase();
  const name = textOf(object["name"]);
  return name === "" ? kind : `${kind}/${name}`;
}

function sourceText(event: JsonObject): string {
  const source = objectOf(event[event["source"] === undefined ? "deprecatedSource" : "source"]);
  const component =
    textOf(source["component"]) || textOf(event["reportingComponent"]) || textOf(event["reportingController"]);
  const host = textOf(source["host"]) || textOf(event["reportingInstance"]);
  return host === "" ? component : `${component}, ${host}`;
}

function countOf(event: JsonObject): number {
  const count = numberOf(event["count"]) || numberOf(event["deprecatedCount"]);
  return numberOf(objectOf(event["series"])["count"]) || count || 1;
}
