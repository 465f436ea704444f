import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from "../../api/types/core-v1.ts";
import { fractionWarnings } from "./fraction-warnings.ts";

const classAnnotation = "volume.beta.kubernetes.io/storage-class";

/** Warns about parts of a claim that are valid but probably mistakes. */
export function claimWarnings({ metadata, spec = {} }: PersistentVolumeClaim): string[] {
  const text = 'deprecated since v1.8; use "storageClassName" attribute instead';
  const isOld = Object.hasOwn(metadata.annotations ?? {}, classAnnotation);
  return [...(isOld ? [`metadata.annotations[${classAnnotation}]: ${text}`] : []), ...claimSpecWarnings(spec, "spec")];
}

/** Warns about a claim that requests a fraction of a byte. */
export function claimSpecWarnings({ resources = {} }: PersistentVolumeClaimSpec, field: string): string[] {
  return [
    ...fractionWarnings(resources.requests, `${field}.resources.requests`, ["storage"]),
    ...fractionWarnings(resources.limits, `${field}.resources.limits`, ["storage"]),
  ];
}
