import type { JsonObject } from "../../json.ts";
import type { Cells } from "./cells.ts";
import { numberIn, structIn } from "./reading.ts";

export function scaleCells(scale: JsonObject): Cells {
  return {
    Desired: numberIn(structIn(scale, "spec"), "replicas"),
    Available: numberIn(structIn(scale, "status"), "replicas"),
  };
}
