import { structIn, structsIn, textIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";

/** Containers and images of the pods that an object with a `template` makes. */
export function templateCells(spec: JsonObject): Cells {
  const containers = structsIn(structIn(structIn(spec, "template"), "spec"), "containers");
  return {
    Containers: containers.map((container) => textIn(container, "name")).join(","),
    Images: containers.map((container) => textIn(container, "image")).join(","),
  };
}
