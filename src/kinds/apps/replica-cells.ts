import { numberOf, objectOf } from "../../api/json-reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import { templateCells } from "./template-cells.ts";

export function replicaCells(object: JsonObject): Cells {
  const spec = objectOf(object["spec"]);
  const status = objectOf(object["status"]);
  return {
    Desired: numberOf(spec["replicas"]),
    Current: numberOf(status["replicas"]),
    Ready: numberOf(status["readyReplicas"]),
    ...templateCells(spec),
  };
}
