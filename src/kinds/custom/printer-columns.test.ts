import { expect, test } from "bun:test";
import { RowTime } from "../../api/codec/table/row-time.ts";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { cellReaders } from "./printer-columns.ts";

const object: JsonObject = {
  metadata: { name: "a", labels: { "example.com/tier": "front" }, creationTimestamp: "2026-01-01T00:00:00Z" },
  spec: {
    replicas: 3,
    ratio: 2.5,
    on: true,
    ports: [
      { name: "http", port: 80 },
      { name: "dns", port: 53 },
    ],
    none: null,
  },
  status: {
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Synced", status: "False" },
    ],
  },
};
const nowMs = Date.UTC(2026, 0, 1, 0, 5);

test.each<[path: string, type: string, cell: JsonValue]>([
  [".spec.replicas", "integer", 3],
  [".spec.ratio", "integer", 2],
  [".spec.ratio", "number", 2.5],
  [".spec.replicas", "string", "3"],
  [".spec.on", "boolean", true],
  [".spec.replicas", "boolean", null],
  [".spec.missing.more", "string", null],
  [".spec.none", "string", "<no value>"],
  [".spec.none", "integer", null],
  [".metadata.creationTimestamp", "date", "5m"],
  [".metadata.name", "date", "<invalid>"],
  [".metadata.labels.example\\.com/tier", "string", "front"],
  [".metadata.labels['example\\.com/tier']", "string", "front"],
  ['.status.conditions[?(@.type=="Ready")].status', "string", "True"],
  ["$.status.conditions[?(@.type=='Synced')].status", "string", "False"],
  [".status.conditions[?(@.type=='Other')].status", "string", null],
  [".spec.ports[*].name", "string", "http"],
  [".spec.ports[1].port", "integer", 53],
  [".spec.ports[-1].name", "string", "dns"],
  [".spec.ports[?(@.port>60)].name", "string", "http"],
  [".spec.ports[7].name", "string", null],
  [".spec.ports[0]", "string", '{"name":"http","port":80}'],
  ["..port", "integer", 80],
  [".spec.ports[0,1].name", "string", "http"],
])("the column %s of type %s", (jsonPath, type, cell) => {
  expect(cellReaders([{ name: "c", type, jsonPath }]).map((read) => read(object, new RowTime(nowMs)))).toEqual([cell]);
});

test("columns behind one that cannot be read are left out", () => {
  const columns = [".spec.on", ".spec[", ".spec.on"].map((jsonPath) => ({ name: "c", type: "boolean", jsonPath }));
  expect(cellReaders(columns)).toHaveLength(1);
});
