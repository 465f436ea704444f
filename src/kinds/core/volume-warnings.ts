import type { Volume } from "../../api/types/core-v1.ts";
import { claimSpecWarnings } from "./claim-warnings.ts";
import { overlapWarnings } from "./volume-path-warnings.ts";

/** Plugins that are gone or will be, and the names that upstream has for their fields. */
const deadPlugins: readonly (readonly [source: keyof Volume, text: string, field?: string])[] = [
  ["photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"],
  ["gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"],
  ["scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  ["flocker", "deprecated in v1.22, non-functional in v1.25+"],
  ["storageos", "deprecated in v1.22, non-functional in v1.25+", "storageOS"],
  ["quobyte", "deprecated in v1.22, non-functional in v1.25+"],
  ["glusterfs", "deprecated in v1.25, non-functional in v1.26+"],
  ["ephemeral", ""],
  ["cephfs", "deprecated in v1.28, non-functional in v1.31+"],
  ["rbd", "deprecated in v1.28, non-functional in v1.31+"],
];

/** Warns about volumes of removed plugins, and about files that overwrite each other. */
export function volumeWarnings(volumes: readonly Volume[], field: string): string[] {
  return [
    ...volumes.flatMap((volume, at) =>
      deadPlugins
        .filter(([source]) => volume[source] !== undefined)
        .flatMap(([source, text, name = source]) =>
          source === "ephemeral" ? claimWarnings(volume, `${field}[${at}]`) : [`${field}[${at}].${name}: ${text}`],
        ),
    ),
    ...overlapWarnings(volumes),
  ];
}

function claimWarnings({ ephemeral }: Volume, field: string): string[] {
  const spec = ephemeral?.volumeClaimTemplate?.spec;
  return spec === undefined ? [] : claimSpecWarnings(spec, `${field}.ephemeral.volumeClaimTemplate.spec`);
}
