import { firstFew } from "../../api/codec/table/cell-text.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { StorageVersion } from "../../api/types/apiserverinternal-v1alpha1.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { storageVersionNameProblems, validateStorageVersionStatus } from "./validation/storage-version.ts";

const versionsShownMax = 3;

const storageVersionStrategy: Strategy<StorageVersion> = {
  ...defaultStrategy,
  coversSchema: true,
  allowUnconditionalUpdate: false,
  resetFields: ["status"],
  validateName: storageVersionNameProblems,
};

const storageVersionStatusStrategy: Strategy<StorageVersion> = {
  ...statusStrategy(storageVersionStrategy, { keepsMetadata: true }),
  validate: validateStorageVersionStatus,
};

export const storageVersion = builtInKind("storageversions.internal.apiserver.k8s.io", {
  endpoint: stored(storageVersionStrategy),
  table: { cells: storageVersionCells },
  subresources: {
    status: subresource(storageVersionStatusStrategy),
  },
  descriptions: {
    "apiserverinternal/v1alpha1.StorageVersion": { "": "The versions in which the servers store a resource." },
    "apiserverinternal/v1alpha1.StorageVersionSpec": { "": "Nothing." },
    "apiserverinternal/v1alpha1.StorageVersionStatus": {
      "": "The versions.",
      storageVersions: "By server.",
      commonEncodingVersion: "The version that all use, if they do.",
    },
  },
});

function storageVersionCells({ status = {} }: StorageVersion): Cells {
  const servers = (status.storageVersions ?? []).map(
    ({ apiServerID = "", encodingVersion = "" }) => `${apiServerID}=${encodingVersion}`,
  );
  return {
    CommonEncodingVersion: status.commonEncodingVersion || "<unset>",
    StorageVersions: firstFew(servers, versionsShownMax) || "<unset>",
  };
}
