import type { Difference } from "./cel-vectors.ts";
export interface RuleCase { readonly name: string }
export function compareRule(_: RuleCase): readonly Difference[] { return []; }
