import { isJsonObject, type JsonObject } from "../../../api/json.ts";
import { roundResourceList } from "./resource-list.ts";
import { childOf, fillIn } from "../../../api/schema/spec-fields.ts";

/** A bound of containers is also what they get when they ask for nothing. */
export function defaultLimitRangeItem(item: JsonObject): void {
  if (item["type"] === "Container") {
    const [limits, requests] = [childOf(item, "default"), childOf(item, "defaultRequest")];
    fillInAmounts(limits, item["max"]);
    fillInAmounts(requests, limits);
    fillInAmounts(requests, item["min"]);
    for (const name of ["default", "defaultRequest"]) {
      if (Object.keys(item[name] as JsonObject).length === 0) delete item[name];
    }
  }
  for (const name of ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"]) {
    roundResourceList(item[name]);
  }
}

function fillInAmounts(amounts: JsonObject, from: unknown): void {
  if (isJsonObject(from)) fillIn(amounts, from);
}
