import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validateStorageVersionMigration,
  validateStorageVersionMigrationStatus,
  validateStorageVersionMigrationUpdate,
} from "./validation/storage-version-migration.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";

const storageVersionMigrationStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowUnconditionalUpdate: false,
  resetFields: ["status"],
  validate: validateStorageVersionMigration,
  validateUpdate: validateStorageVersionMigrationUpdate,
};

const storageVersionMigrationStatusStrategy: Strategy = {
  ...statusStrategy(storageVersionMigrationStrategy),
  validate: validateStorageVersionMigrationStatus,
};

export const storageVersionMigration = builtInKind("storageversionmigrations.storagemigration.k8s.io", {
  endpoint: stored(storageVersionMigrationStrategy),
  subresources: {
    status: subresource(storageVersionMigrationStatusStrategy),
  },
});
