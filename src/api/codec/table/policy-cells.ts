import type { JsonObject } from "../../json.ts";
import type { Cells } from "./cells.ts";
import { numberIn, structIn } from "./reading.ts";

export function podDisruptionBudgetCells(budget: JsonObject): Cells {
  const spec = structIn(budget, "spec");
  return {
    "Min Available": String(spec["minAvailable"] ?? "N/A"),
    "Max Unavailable": String(spec["maxUnavailable"] ?? "N/A"),
    "Allowed Disruptions": numberIn(structIn(budget, "status"), "disruptionsAllowed"),
  };
}

/** Used and allowed amounts, requests and limits apart. */
export function resourceQuotaCells(quota: JsonObject): Cells {
  const status = structIn(quota, "status");
  const [hard, used] = [structIn(status, "hard"), structIn(status, "used")];
  const shown = (limits: boolean) =>
    Object.keys(hard)
      .filter((name) => name.startsWith("limits.") === limits)
      .sort()
      .map((name) => `${name}: ${String(used[name] ?? 0)}/${String(hard[name])}`)
      .join(", ");
  return { Request: shown(false), Limit: shown(true) };
}
