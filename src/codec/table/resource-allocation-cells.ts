import type { JsonObject } from "../../api/json.ts";
import type { Cells } from "./cells.ts";
import { ageOf } from "./human-duration.ts";
import { structIn, structsIn, textIn } from "./reading.ts";

export function resourceClaimCells(claim: JsonObject): Cells {
  const going = structIn(claim, "metadata")["deletionTimestamp"] !== undefined;
  const status = structIn(claim, "status");
  const states = going ? ["deleted"] : [];
  if (status["allocation"] === undefined) states.push(...(going ? [] : ["pending"]));
  else states.push("allocated", ...(structsIn(status, "reservedFor").length > 0 ? ["reserved"] : []));
  return { State: states.join(",") };
}

export function resourceSliceCells(slice: JsonObject): Cells {
  const spec = structIn(slice, "spec");
  return {
    Node: textIn(spec, "nodeName"),
    Driver: textIn(spec, "driver"),
    Pool: textIn(structIn(spec, "pool"), "name"),
  };
}

export function deviceTaintRuleCells(rule: JsonObject, nowMs: number): Cells {
  const taint = structIn(structIn(rule, "spec"), "taint");
  const added = textIn(taint, "timeAdded");
  return {
    Key: textIn(taint, "key"),
    Value: textIn(taint, "value"),
    Effect: textIn(taint, "effect"),
    TimeAdded: added === "" ? "" : ageOf(added, nowMs),
  };
}
