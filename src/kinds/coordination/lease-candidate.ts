import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateLeaseCandidate, validateLeaseCandidateUpdate } from "./validation/lease-candidate.ts";
import { configKeyProblems } from "../../api/validation/names.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { structIn, textIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";

const leaseCandidateStrategy: Strategy = {
  ...defaultStrategy,
  metaRules: "update",
  allowsBareFinalizers: true,
  coversSchema: true,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  validateName: configKeyProblems,
  validate: validateLeaseCandidate,
  validateUpdate: validateLeaseCandidateUpdate,
};

export const leaseCandidate = builtInKind("leasecandidates.coordination.k8s.io", {
  endpoint: stored(leaseCandidateStrategy),
  table: { cells: leaseCandidateCells },
});

function leaseCandidateCells(candidate: JsonObject): Cells {
  const spec = structIn(candidate, "spec");
  return {
    LeaseName: textIn(spec, "leaseName"),
    BinaryVersion: textIn(spec, "binaryVersion"),
    EmulationVersion: textIn(spec, "emulationVersion"),
  };
}
