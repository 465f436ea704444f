import { objectOf, objectsOf, textOf } from "../../api/json-reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";

/** Containers and images of the pods that an object with a `template` makes. */
export function templateCells(spec: JsonObject): Cells {
  const containers = objectsOf(objectOf(objectOf(spec["template"])["spec"])["containers"]);
  return {
    Containers: containers.map((container) => textOf(container["name"])).join(","),
    Images: containers.map((container) => textOf(container["image"])).join(","),
  };
}
