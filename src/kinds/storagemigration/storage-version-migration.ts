import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validateStorageVersionMigration,
  validateStorageVersionMigrationStatus,
  validateStorageVersionMigrationUpdate,
} from "./validation/storage-version-migration.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import { structIn, structsIn, textIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";

const migrationStates: ReadonlySet<string> = new Set(["Running", "Failed", "Succeeded"]);

const storageVersionMigrationStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowUnconditionalUpdate: false,
  resetFields: ["status"],
  validate: validateStorageVersionMigration,
  validateUpdate: validateStorageVersionMigrationUpdate,
};

const storageVersionMigrationStatusStrategy: Strategy = {
  ...statusStrategy(storageVersionMigrationStrategy, { keepsMetadata: true }),
  validate: validateStorageVersionMigrationStatus,
};

export const storageVersionMigration = builtInKind("storageversionmigrations.storagemigration.k8s.io", {
  endpoint: stored(storageVersionMigrationStrategy),
  table: { cells: storageVersionMigrationCells },
  subresources: {
    status: subresource(storageVersionMigrationStatusStrategy),
  },
});

function storageVersionMigrationCells(migration: JsonObject): Cells {
  const resource = structIn(structIn(migration, "spec"), "resource");
  const reached = structsIn(structIn(migration, "status"), "conditions").findLast(
    (condition) => textIn(condition, "status") === "True" && migrationStates.has(textIn(condition, "type")),
  );
  return {
    Resource: [textIn(resource, "resource"), textIn(resource, "group")].filter((part) => part !== "").join("."),
    Status: reached === undefined ? "Unknown" : textIn(reached, "type"),
  };
}
