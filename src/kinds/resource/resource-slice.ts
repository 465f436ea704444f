import type { Cells } from "../../api/codec/table/table-rules.ts";
import { apiVersionOf } from "../../api/gvk.ts";
import { formatTime } from "../../api/time.ts";
import type * as resourceV1 from "../../api/types/resource-v1.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { resourceSliceConversion } from "./conversion.ts";
import { validateResourceSlice } from "./validation/resource-slice.ts";

const resourceSliceStrategy: Strategy<resourceV1.ResourceSlice> = {
  ...defaultStrategy,
  metaRules: "update",
  coversSchema: true,
  returnsDeletedObject: true,
  countsDroppedFields: true,
  generationFields: ["spec"],
  prepareForCreate: (slice) => dateTaints(slice, slice.metadata.creationTimestamp ?? ""),
  prepareForUpdate: (slice, _old, nowMs) => dateTaints(slice, formatTime(nowMs)),
  validate: validateResourceSlice,
  warnings: driverWarnings,
};

export const resourceSlice = builtInKind("resourceslices.resource.k8s.io", {
  endpoint: stored(resourceSliceStrategy),
  table: { cells: resourceSliceCells },
  labels: {
    refusal: (label, gvk) => `field label not supported for ${apiVersionOf(gvk)}, Kind=${gvk.kind}: ${label}`,
  },
  conversions: { v1beta1: () => resourceSliceConversion },
  descriptions: {
    "resource/v1.ResourceSlice": { "": "Some of the devices of a driver." },
    "resource/v1.ResourceSliceSpec": {
      "": "The devices, and where they are.",
      driver: "The driver.",
      pool: "The pool that the slice is a part of.",
      nodeName: "The node that has them.",
      nodeSelector: "The nodes that can reach them.",
      allNodes: "Whether all nodes can reach them.",
      devices: "The devices.",
      perDeviceNodeSelection: "Whether each device says for itself where it is.",
      sharedCounters: "Counters that devices share.",
    },
  },
});

export function driverWarnings({ spec: { driver } }: Pick<resourceV1.ResourceSlice, "spec">): readonly string[] {
  if (driver === driver.toLowerCase()) return [];
  return [`spec.driver: driver names should be lowercase; ${JSON.stringify(driver)} contains uppercase characters`];
}

/** Fills in when a taint was seen first. Tolerations that run out count from then. */
function dateTaints({ spec }: resourceV1.ResourceSlice, now: string): void {
  for (const device of spec.devices ?? []) {
    for (const taint of device.taints ?? []) taint.timeAdded ??= now;
  }
}

function resourceSliceCells({ spec: { nodeName = "", driver, pool } }: resourceV1.ResourceSlice): Cells {
  return { Node: nodeName, Driver: driver, Pool: pool.name };
}
