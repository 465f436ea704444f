import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateLeaseCandidate, validateLeaseCandidateUpdate } from "./validation/lease-candidate.ts";
import { configKeyProblems } from "../../api/validation/names.ts";
import { builtInKind, stored } from "../../registry/kind.ts";

const leaseCandidateStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  validateName: configKeyProblems,
  validate: validateLeaseCandidate,
  validateUpdate: validateLeaseCandidateUpdate,
};

export const leaseCandidate = builtInKind("leasecandidates.coordination.k8s.io", {
  endpoint: stored(leaseCandidateStrategy),
});
