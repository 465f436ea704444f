import { formatTime } from "../../api/time.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { fieldsOf } from "../../api/validation/key-values.ts";
import { objectsOf } from "../../api/validation/fields.ts";
import { validateResourceSlice, validateResourceSliceUpdate } from "./validation/resource-slice.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { structIn, textIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import { apiVersionOf } from "../../api/gvk.ts";
import { resourceSliceConversion } from "./conversion.ts";

const resourceSliceStrategy: Strategy = {
  ...defaultStrategy,
  metaRules: "update",
  coversSchema: true,
  generationFields: ["spec"],
  prepareForCreate: (slice) => dateTaints(slice, slice.metadata.creationTimestamp ?? ""),
  prepareForUpdate: (slice, _old, nowMs) => dateTaints(slice, formatTime(nowMs)),
  validate: validateResourceSlice,
  validateUpdate: validateResourceSliceUpdate,
};

export const resourceSlice = builtInKind("resourceslices.resource.k8s.io", {
  endpoint: stored(resourceSliceStrategy),
  table: { cells: resourceSliceCells },
  labels: {
    refusal: (label, gvk) => `field label not supported for ${apiVersionOf(gvk)}, Kind=${gvk.kind}: ${label}`,
  },
  conversions: { v1beta1: () => resourceSliceConversion },
});

/** Tolerations that run out count from when a taint was seen first. */
function dateTaints(slice: KubeObject, now: string): void {
  for (const device of objectsOf(fieldsOf(slice["spec"])["devices"])) {
    for (const taint of objectsOf(device["taints"])) taint["timeAdded"] ??= now;
  }
}

function resourceSliceCells(slice: JsonObject): Cells {
  const spec = structIn(slice, "spec");
  return {
    Node: textIn(spec, "nodeName"),
    Driver: textIn(spec, "driver"),
    Pool: textIn(structIn(spec, "pool"), "name"),
  };
}
