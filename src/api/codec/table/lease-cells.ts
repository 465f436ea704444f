import type { JsonObject } from "../../json.ts";
import type { Cells } from "./cells.ts";
import { structIn, textIn } from "./reading.ts";

export function leaseCells(lease: JsonObject): Cells {
  return { Holder: textIn(structIn(lease, "spec"), "holderIdentity") };
}
