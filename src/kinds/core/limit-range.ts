import { emptyMap } from "../../api/json.ts";
import type { LimitRange, LimitRangeItem, ResourceList } from "../../api/types/core-v1.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { roundResourceList } from "./resource-list.ts";
import { validateLimitRange } from "./validation/limit-range.ts";

const limitRangeStrategy: Strategy<LimitRange> = {
  ...defaultStrategy,
  metaRules: "whole",
  coversSchema: true,
  allowCreateOnUpdate: true,
  prepareForCreate({ metadata }) {
    if ((metadata.name ?? "") === "") metadata.name = crypto.randomUUID();
  },
  validate: validateLimitRange,
};

export const limitRange = builtInKind("limitranges", {
  endpoint: stored(limitRangeStrategy),
  defaults: {
    "core/v1.LimitRangeItem": defaultLimitRangeItem,
  },
  descriptions: {
    "core/v1.LimitRange": { "": "Bounds and defaults for what single pods and claims of a namespace may have." },
    "core/v1.LimitRangeSpec": { "": "The bounds.", limits: "Bounds by the kind of thing that is bounded." },
  },
});

/** A limit of containers is also the default for containers that request nothing. */
function defaultLimitRangeItem(item: LimitRangeItem): void {
  if (item.type === "Container") {
    const limits = completed(item.default, item.max);
    const requests = completed(item.defaultRequest, limits, item.min);
    if (Object.keys(limits).length > 0) item.default = limits;
    if (Object.keys(requests).length > 0) item.defaultRequest = requests;
  }
  const { max, min, default: limits, defaultRequest, maxLimitRequestRatio } = item;
  for (const list of [max, min, limits, defaultRequest, maxLimitRequestRatio]) roundResourceList(list);
}

/** Returns the amounts, and for the resources that they lack those of the first other list that has them. */
function completed(amounts: ResourceList | undefined, ...others: (ResourceList | undefined)[]): ResourceList {
  return Object.assign(emptyMap<string>(), ...others.toReversed(), amounts) as ResourceList;
}
