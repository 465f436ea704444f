import type { JsonObject } from "../../json.ts";
import type { Cells } from "./cells.ts";
import { structIn, textIn } from "./reading.ts";

export function namespaceCells(namespace: JsonObject): Cells {
  return { Status: textIn(structIn(namespace, "status"), "phase") };
}
