import type { PersistentVolume, PersistentVolumeSpec } from "../../api/types/core-v1.ts";
import { nodeTermWarnings } from "./pod-warnings.ts";

const deadAnnotations: readonly (readonly [key: string, text: string])[] = [
  ["volume.beta.kubernetes.io/storage-class", 'deprecated since v1.8; use "storageClassName" attribute instead'],
  ["volume.beta.kubernetes.io/mount-options", 'deprecated since v1.31; use "mountOptions" attribute instead'],
];
/** Plugins that are gone, and the names that upstream has for their fields. */
const deadPlugins: readonly (readonly [source: keyof PersistentVolumeSpec, text: string, field?: string])[] = [
  ["cephfs", "deprecated in v1.28, non-functional in v1.31+"],
  ["photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"],
  ["scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  ["storageos", "deprecated in v1.22, non-functional in v1.25+", "storageOS"],
  ["glusterfs", "deprecated in v1.25, non-functional in v1.26+"],
  ["rbd", "deprecated in v1.28, non-functional in v1.31+"],
];
const recycleText =
  "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.";

/** Warns about parts of a volume that are deprecated. */
export function persistentVolumeWarnings({ metadata, spec = {} }: PersistentVolume): string[] {
  const { annotations = {} } = metadata;
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  return [
    ...deadAnnotations
      .filter(([key]) => Object.hasOwn(annotations, key))
      .map(([key, text]) => `metadata.annotations[${key}]: ${text}`),
    ...(spec.persistentVolumeReclaimPolicy === "Recycle" ? [`spec.persistentVolumeReclaimPolicy: ${recycleText}`] : []),
    ...terms.flatMap((term, at) =>
      nodeTermWarnings(term, `spec.nodeAffinity.required.nodeSelectorTerms[${at}]`, false),
    ),
    ...deadPlugins
      .filter(([source]) => spec[source] !== undefined)
      .map(([source, text, field = source]) => `spec.${field}: ${text}`),
  ];
}
