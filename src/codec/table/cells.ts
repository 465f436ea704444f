import type { JsonObject, JsonValue } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type { ResourceInfo } from "../../scheme/resource.ts";
import { configMapCells } from "./config-map-cells.ts";
import { eventCells } from "./event-cells.ts";
import { ageOf } from "./human-duration.ts";
import { leaseCells } from "./lease-cells.ts";
import { namespaceCells } from "./namespace-cells.ts";
import { nodeCells } from "./node-cells.ts";
import { podCells, podRowConditions } from "./pod-cells.ts";
import { scaleCells } from "./scale-cells.ts";
import { secretCells } from "./secret-cells.ts";
import { serviceAccountCells } from "./service-account-cells.ts";

/** Values of one row by column name. */
export type Cells = Readonly<Record<string, JsonValue>>;

const rules: ReadonlyMap<string, (object: JsonObject, nowMs: number) => Cells> = new Map([
  ["/Pod", podCells],
  ["/Node", nodeCells],
  ["/Namespace", namespaceCells],
  ["/ConfigMap", configMapCells],
  ["/Secret", secretCells],
  ["/ServiceAccount", serviceAccountCells],
  ["/Event", eventCells],
  ["events.k8s.io/Event", eventCells],
  ["autoscaling/Scale", scaleCells],
  ["coordination.k8s.io/Lease", leaseCells],
]);

/** The cells of an object. Name, Age and Created At mean the same everywhere; the others are the kind's own. */
export function cellsOf(object: KubeObject, info: ResourceInfo, nowMs: number): Cells {
  const { metadata } = object;
  const own = rules.get(`${info.group}/${info.kind}`);
  return {
    Name: metadata.name ?? "",
    Age: ageOf(metadata.creationTimestamp, nowMs),
    "Created At": metadata.creationTimestamp ?? "<unknown>",
    ...own?.(object as JsonObject, nowMs),
  };
}

/** Conditions of the row itself. */
export function rowConditionsOf(object: KubeObject, info: ResourceInfo): JsonObject[] {
  return info.group === "" && info.kind === "Pod" ? podRowConditions(object as JsonObject) : [];
}
