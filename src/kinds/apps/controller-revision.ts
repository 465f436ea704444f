import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateControllerRevision, validateControllerRevisionUpdate } from "./validation/controller-revision.ts";
import { builtInKind, stored } from "../../registry/kind.ts";

const controllerRevisionStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  validate: (revision, old) => validateControllerRevision(revision, old),
  validateUpdate: validateControllerRevisionUpdate,
};

export const controllerRevision = builtInKind("controllerrevisions.apps", {
  endpoint: stored(controllerRevisionStrategy),
});
