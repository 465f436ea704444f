import type { JsonObject } from "../../json.ts";
import type { Cells } from "./cells.ts";
import { sizeOf, textIn } from "./reading.ts";

export function secretCells(secret: JsonObject): Cells {
  return { Type: textIn(secret, "type"), Data: sizeOf(secret["data"]) };
}
