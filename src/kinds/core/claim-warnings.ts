import type { PersistentVolumeClaimSpec } from "../../api/types/core-v1.ts";
import { fractionWarnings } from "./fraction-warnings.ts";

/** Warns about a claim that asks for part of a byte. */
export function claimSpecWarnings({ resources = {} }: PersistentVolumeClaimSpec, field: string): string[] {
  return [
    ...fractionWarnings(resources.requests, `${field}.resources.requests`, ["storage"]),
    ...fractionWarnings(resources.limits, `${field}.resources.limits`, ["storage"]),
  ];
}
