import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { storageVersionNameProblems, validateStorageVersionStatus } from "../validation/storage-version.ts";

export const storageVersionStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowUnconditionalUpdate: false,
  resetFields: ["status"],
  validateName: storageVersionNameProblems,
};

export const storageVersionStatusStrategy: Strategy = {
  ...statusStrategy(storageVersionStrategy),
  validate: validateStorageVersionStatus,
};
