import type { JsonObject } from "../../api/json.ts";
import type { Cells } from "./cells.ts";
import { sizeOf } from "./reading.ts";

export function serviceAccountCells(serviceAccount: JsonObject): Cells {
  return { Secrets: sizeOf(serviceAccount["secrets"]) };
}
