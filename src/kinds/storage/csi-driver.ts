import type { Cells } from "../../api/codec/table/table-rules.ts";
import { equalJson } from "../../api/json.ts";
import type * as storageV1 from "../../api/types/storage-v1.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateCsiDriver, validateCsiDriverUpdate } from "./validation/csi-driver.ts";

const tokensInAttributesText =
  "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes";

const csiDriverStrategy: Strategy<storageV1.CSIDriver> = {
  ...defaultStrategy,
  metaRules: "update",
  coversSchema: true,
  allowUnconditionalUpdate: false,
  returnsDeletedObject: true,
  // No other kind starts without a generation and counts from its first change.
  prepareForUpdate(driver, old) {
    if (equalJson(driver.spec, old.spec)) return;
    driver.metadata.generation = (old.metadata.generation ?? 0) + 1;
  },
  validate: validateCsiDriver,
  validateUpdate: validateCsiDriverUpdate,
  warnings: warningsOfCsiDriver,
};

export const csiDriver = builtInKind("csidrivers.storage.k8s.io", {
  endpoint: stored(csiDriverStrategy),
  table: { cells: csiDriverCells },
  defaults: {
    "storage/v1.CSIDriver": defaultCsiDriver,
  },
  descriptions: {
    "storage/v1.CSIDriver": { "": "Abilities and needs of a CSI driver. Its name is the driver's." },
    "storage/v1.CSIDriverSpec": {
      "": "Abilities and needs of the driver.",
      attachRequired: "Whether volumes are attached to nodes before they are mounted.",
      podInfoOnMount: "Whether the driver is told for which pod it mounts.",
      volumeLifecycleModes: "Persistent, Ephemeral or both.",
      storageCapacity: "Whether the driver says where it has room.",
      fsGroupPolicy: "Whether ownership of files is changed for the pod.",
      tokenRequests: "Tokens of the pod's account that the driver gets.",
      requiresRepublish: "Whether mounting is repeated to refresh volumes.",
      seLinuxMount: "Whether the driver can mount with an SELinux context.",
      nodeAllocatableUpdatePeriodSeconds: "Seconds between updates of the capacity of nodes.",
      serviceAccountTokenInSecrets: "Whether tokens are passed among the secrets.",
      preventPodSchedulingIfMissing: "Whether pods wait for nodes that have the driver.",
    },
  },
});

function warningsOfCsiDriver({ spec }: storageV1.CSIDriver, old?: storageV1.CSIDriver): string[] {
  const { tokenRequests = [], serviceAccountTokenInSecrets } = spec;
  if (tokenRequests.length === 0 || serviceAccountTokenInSecrets !== undefined) return [];
  return equalJson(tokenRequests, old?.spec.tokenRequests) ? [] : [tokensInAttributesText];
}

function csiDriverCells({ spec }: storageV1.CSIDriver): Cells {
  return {
    AttachRequired: spec.attachRequired ?? true,
    PodInfoOnMount: spec.podInfoOnMount ?? false,
    StorageCapacity: spec.storageCapacity ?? false,
    TokenRequests: spec.tokenRequests?.map(({ audience }) => audience).join(",") ?? "<unset>",
    RequiresRepublish: spec.requiresRepublish ?? false,
    Modes: (spec.volumeLifecycleModes ?? []).join(",") || "<none>",
  };
}

function defaultCsiDriver({ spec }: storageV1.CSIDriver): void {
  spec.attachRequired ??= true;
  spec.podInfoOnMount ??= false;
  spec.storageCapacity ??= false;
  spec.fsGroupPolicy ??= "ReadWriteOnceWithFSType";
  if ((spec.volumeLifecycleModes ?? []).length === 0) spec.volumeLifecycleModes = ["Persistent"];
  spec.requiresRepublish ??= false;
  spec.seLinuxMount ??= false;
}
