import { expect, test } from "bun:test";
import type { Volume } from "../../api/types/core-v1.ts";
import { volumeWarnings } from "./volume-warnings.ts";

const requests = { storage: "100m" };

test.each<[volume: Volume, ...warnings: string[]]>([
  [{ name: "v", emptyDir: {} }],
  [
    { name: "v", gitRepo: { repository: "r" } },
    "spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+",
  ],
  [{ name: "v", storageos: {} }, "spec.volumes[0].storageOS: deprecated in v1.22, non-functional in v1.25+"],
  [
    { name: "v", ephemeral: { volumeClaimTemplate: { spec: { resources: { requests } } } } },
    'spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: fractional byte value "100m" is invalid, must be an integer',
  ],
])("the volume %j is warned about", (volume, ...warnings) => {
  expect(volumeWarnings([volume], "spec.volumes")).toEqual(warnings);
});
