import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { LeaseCandidate } from "../../api/types/coordination-v1alpha2.ts";
import { configKeyProblems } from "../../api/validation/names.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateLeaseCandidate, validateLeaseCandidateUpdate } from "./validation/lease-candidate.ts";

const leaseCandidateStrategy: Strategy<LeaseCandidate> = {
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
  descriptions: {
    "coordination/v1beta1.LeaseCandidate": { "": "Somebody who wants to hold a lease." },
    "coordination/v1beta1.LeaseCandidateSpec": {
      "": "The lease and the candidate.",
      leaseName: "The lease.",
      pingTime: "When the candidate was asked last whether it is there.",
      renewTime: "When it answered last.",
      binaryVersion: "Its version.",
      emulationVersion: "The version that it acts as.",
      strategy: "Strategy for choosing the holder.",
    },
  },
});

function leaseCandidateCells({ spec }: LeaseCandidate): Cells {
  return {
    LeaseName: spec?.leaseName ?? "",
    BinaryVersion: spec?.binaryVersion ?? "",
    EmulationVersion: spec?.emulationVersion ?? "",
  };
}
