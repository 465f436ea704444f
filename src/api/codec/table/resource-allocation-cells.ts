import type { JsonObject } from "../../json.ts";
import type { Cells } from "./cells.ts";
import { ageOf } from "./human-duration.ts";
import { numberIn, structIn, structsIn, textIn } from "./reading.ts";

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

/** Devices are counted over all pools of the answer, unless there is none or the request has failed. */
export function resourcePoolStatusRequestCells(request: JsonObject, nowMs: number): Cells {
  const status = structIn(request, "status");
  const pools = structsIn(status, "pools");
  const poolCount = numberIn(status, "poolCount");
  const end = structsIn(status, "conditions").find(isEnd);
  const state = end === undefined ? "Pending" : textIn(end, "type");
  const isCounted = request["status"] !== undefined && state !== "Failed";
  const sum = (field: string) =>
    isCounted ? String(pools.reduce((total, pool) => total + numberIn(pool, field), 0)) : "-";
  return {
    Driver: textIn(structIn(request, "spec"), "driver"),
    Total: sum("totalDevices"),
    Available: sum("availableDevices"),
    Allocated: sum("allocatedDevices"),
    Unavailable: sum("unavailableDevices"),
    Errors: isCounted ? String(pools.filter((pool) => pool["validationError"] !== undefined).length) : "-",
    Pools: poolCount,
    Status: state === "Complete" && poolCount > pools.length ? `Complete (${pools.length}/${poolCount} pools)` : state,
    Completed: end === undefined || state !== "Complete" ? "<none>" : ageOf(textIn(end, "lastTransitionTime"), nowMs),
  };
}

function isEnd(condition: JsonObject): boolean {
  return textIn(condition, "status") === "True" && /^(Complete|Failed)$/.test(textIn(condition, "type"));
}
