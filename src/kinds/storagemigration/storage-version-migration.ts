import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { StorageVersionMigration } from "../../api/types/storagemigration-v1beta1.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validateStorageVersionMigration,
  validateStorageVersionMigrationStatus,
  validateStorageVersionMigrationUpdate,
} from "./validation/storage-version-migration.ts";

const migrationStates: ReadonlySet<string> = new Set(["Running", "Failed", "Succeeded"]);

const storageVersionMigrationStrategy: Strategy<StorageVersionMigration> = {
  ...defaultStrategy,
  coversSchema: true,
  allowUnconditionalUpdate: false,
  resetFields: ["status"],
  validate: validateStorageVersionMigration,
  validateUpdate: validateStorageVersionMigrationUpdate,
};

const storageVersionMigrationStatusStrategy: Strategy<StorageVersionMigration> = {
  ...statusStrategy(storageVersionMigrationStrategy, { keepsMetadata: true }),
  validate: validateStorageVersionMigrationStatus,
};

export const storageVersionMigration = builtInKind("storageversionmigrations.storagemigration.k8s.io", {
  endpoint: stored(storageVersionMigrationStrategy),
  table: { cells: storageVersionMigrationCells },
  subresources: {
    status: subresource(storageVersionMigrationStatusStrategy),
  },
  descriptions: {
    "storagemigration/v1beta1.StorageVersionMigration": {
      "": "Writes all objects of a resource again, in its newest version.",
    },
    "storagemigration/v1beta1.StorageVersionMigrationSpec": {
      "": "The resource to rewrite.",
      resource: "The resource.",
    },
    "storagemigration/v1beta1.StorageVersionMigrationStatus": {
      "": "Progress of the migration.",
      resourceVersion: "Objects up to this version are written again.",
    },
  },
});

function storageVersionMigrationCells({ spec, status }: StorageVersionMigration): Cells {
  const { resource = "", group = "" } = spec?.resource ?? {};
  const reached = (status?.conditions ?? []).findLast(
    (condition) => condition.status === "True" && migrationStates.has(condition.type),
  );
  return {
    Resource: [resource, group].filter((part) => part !== "").join("."),
    Status: reached?.type ?? "Unknown",
  };
}
