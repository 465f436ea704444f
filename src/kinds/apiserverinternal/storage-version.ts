import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { storageVersionNameProblems, validateStorageVersionStatus } from "./validation/storage-version.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";

const storageVersionStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowUnconditionalUpdate: false,
  resetFields: ["status"],
  validateName: storageVersionNameProblems,
};

const storageVersionStatusStrategy: Strategy = {
  ...statusStrategy(storageVersionStrategy),
  validate: validateStorageVersionStatus,
};

export const storageVersion = builtInKind("storageversions.internal.apiserver.k8s.io", {
  endpoint: stored(storageVersionStrategy),
  subresources: {
    status: subresource(storageVersionStatusStrategy),
  },
});
