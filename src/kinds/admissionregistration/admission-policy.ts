import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { staticNameWarnings } from "./static-names.ts";

/** Rules that admission policies and their bindings share. */
export const policyStrategy: Strategy = {
  ...defaultStrategy,
  metaRules: "whole",
  allowsBareFinalizers: true,
  coversSchema: true,
  allowUnconditionalUpdate: false,
  generationFields: ["spec"],
  warnings: staticNameWarnings,
};
