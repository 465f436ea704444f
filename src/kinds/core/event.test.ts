import { describe, expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";

const involvedObject: JsonObject = { kind: "Pod", namespace: "n", name: "p" };

describe("an Event of the core group", () => {
  const path = "v1/events";
  const rich: JsonObject = {
    involvedObject,
    reason: "Started",
    message: "started",
    type: "Anything",
    count: 1,
    eventTime: "2026-01-01T00:00:00.000000Z",
    reportingComponent: "example.com/controller",
    reportingInstance: "c-1",
    action: "Start",
  };

  test.each<[string, JsonObject]>([
    ["little", { involvedObject: { namespace: "n" } }],
    ["everything", rich],
    ["the old form", { involvedObject, reason: "Started", source: { component: "kubelet" }, count: 3 }],
  ])("with %s is accepted", async (_, event) => {
    expect(await refusal(path, event)).toEqual([]);
  });

  test.each<[event: JsonObject, ...causes: string[]]>([
    [{ involvedObject: {} }, 'involvedObject.namespace: Invalid value: "": does not match event.namespace'],
    [
      { involvedObject: { namespace: "other" } },
      'involvedObject.namespace: Invalid value: "other": does not match event.namespace',
    ],
    [changed(rich, "action", undefined), "action: Required value"],
    [changed(rich, "reason", "r".repeat(129)), 'reason: Invalid value: "": can have at most 128 characters'],
    [changed(rich, "message", "m".repeat(1025)), 'message: Invalid value: "": can have at most 1024 characters'],
    [changed(rich, "reportingInstance", ""), "reportingInstance: Required value"],
  ])("%j is refused", async (event, ...causes) => {
    expect(await refusal(path, event)).toEqual(causes);
  });

  test("may change in any way", async () => {
    expect(await updateRefusal(path, rich, changed(changed(rich, "count", 2), "reason", "Again"))).toEqual([]);
  });
});

test("an Event of the core group names its controller as that version does", async () => {
  const event = {
    involvedObject,
    eventTime: "2026-01-01T00:00:00.000000Z",
    reportingInstance: "c-1",
    action: "a",
    reason: "r",
  };
  const [first] = await refusal("v1/events", event);
  expect(first).toBe("reportingComponent: Required value");
});

describe("an Event of events.k8s.io", () => {
  const path = "events.k8s.io/v1/events";
  const minimal: JsonObject = {
    regarding: involvedObject,
    eventTime: "2026-01-01T00:00:00.000000Z",
    reportingController: "example.com/controller",
    reportingInstance: "c-1",
    action: "Start",
    reason: "Started",
    type: "Normal",
  };
  const rich: JsonObject = {
    ...minimal,
    note: "started",
    related: { kind: "Node", name: "a" },
    series: { count: 2, lastObservedTime: "2026-01-01T00:00:01.000000Z" },
  };

  test.each([
    ["little", minimal],
    ["everything", rich],
  ])("with %s is accepted", async (_, event) => {
    expect(await refusal(path, event)).toEqual([]);
  });

  test.each<[field: string, value: JsonValue | undefined, ...causes: string[]]>([
    ["eventTime", undefined, "eventTime: Required value"],
    ["type", "Anything", 'type: Invalid value: "": has invalid value: Anything'],
    ["reason", undefined, "reason: Required value"],
    ["reportingController", undefined, "reportingController: Required value", 'reportingController: Invalid value: ""'],
    ["series.count", 1, 'series.count: Invalid value: "": should be at least 2'],
    ["series.lastObservedTime", undefined, "series.lastObservedTime: Required value"],
    ["deprecatedCount", 1, 'count: Invalid value: "": needs to be unset'],
    ["deprecatedFirstTimestamp", "2026-01-01T00:00:00Z", 'firstTimestamp: Invalid value: "": needs to be unset'],
    ["deprecatedSource", { host: "a" }, 'source: Invalid value: "": needs to be unset'],
    ["metadata.name", "A", 'metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain'],
    ["metadata.labels", { "a b": "" }, 'metadata.labels: Invalid value: "a b": name part must consist of'],
  ])("with %s = %j is refused", async (field, value, ...causes) => {
    const found = await refusal(path, changed(rich, field, value));
    for (const [at, cause] of causes.entries()) expect(found[at]).toStartWith(cause);
    expect(found.length).toBeGreaterThanOrEqual(causes.length);
  });

  test.each<[field: string, value: JsonValue, ...causes: string[]]>([
    ["series", { count: 3, lastObservedTime: "2026-01-01T00:00:02.000000Z" }],
    ["series.count", 1, 'series.count: Invalid value: "": should be at least 2'],
    ["note", "else", 'message: Invalid value: "else": field is immutable'],
    [
      "reason",
      "Else",
      'reason: Invalid value: "Else": field is immutable',
      'reason: Invalid value: "Else": field is immutable',
    ],
    ["reportingInstance", "c-2", 'reportingInstance: Invalid value: "c-2": field is immutable'],
  ])("updated to %s = %j gets the expected answer", async (field, value, ...causes) => {
    expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
  });
});
