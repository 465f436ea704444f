import type { JsonObject } from "../../json.ts";
import type { Cells } from "./cells.ts";
import { sizeOf } from "./reading.ts";

export function configMapCells(configMap: JsonObject): Cells {
  return { Data: sizeOf(configMap["data"]) + sizeOf(configMap["binaryData"]) };
}
