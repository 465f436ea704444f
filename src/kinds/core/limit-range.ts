import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { LimitRange } from "../../api/types/core-v1.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateLimitRange } from "./validation/limit-range.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { defaultLimitRangeItem } from "./defaults/limit-range.ts";

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
