import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateControllerRevision, validateControllerRevisionUpdate } from "../validation/controller-revision.ts";

export const controllerRevisionStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  validate: (revision, old) => validateControllerRevision(revision, old),
  validateUpdate: validateControllerRevisionUpdate,
};
