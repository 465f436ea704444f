import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validateStorageVersionMigration,
  validateStorageVersionMigrationStatus,
  validateStorageVersionMigrationUpdate,
} from "../validation/storage-version-migration.ts";

export const storageVersionMigrationStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowUnconditionalUpdate: false,
  resetFields: ["status"],
  validate: validateStorageVersionMigration,
  validateUpdate: validateStorageVersionMigrationUpdate,
};

export const storageVersionMigrationStatusStrategy: Strategy = {
  ...statusStrategy(storageVersionMigrationStrategy),
  validate: validateStorageVersionMigrationStatus,
};
