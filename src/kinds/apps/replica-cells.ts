import { numberIn, structIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import { templateCells } from "./template-cells.ts";

export function replicaCells(object: JsonObject): Cells {
  const spec = structIn(object, "spec");
  const status = structIn(object, "status");
  return {
    Desired: numberIn(spec, "replicas"),
    Current: numberIn(status, "replicas"),
    Ready: numberIn(status, "readyReplicas"),
    ...templateCells(spec),
  };
}
