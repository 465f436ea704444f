import { decodeEntry } from "../../api/codec/stored-object.ts";
import type { Entry } from "../../api/entry.ts";
import type { ResourceClaim } from "../../api/types/resource-v1.ts";
import type { Registry } from "../../registry/registry.ts";
import { podClaimAnnotation } from "./pod-claims.ts";

const extendedAnnotation = "resource.kubernetes.io/extended-resource-claim";

/** Upstream's labels of a claim in metrics. */
export interface ClaimTraits {
  readonly allocated: "true" | "false";
  readonly adminAccess: "true" | "false";
  readonly source: "resource_claim_template" | "extended_resource" | "";
}

/** Measures the claims for devices. */
export interface ResourceClaimsObserver {
  /** Counts an attempt to create a claim. */
  creation(result: "success" | "failure", adminAccess: ClaimTraits["adminAccess"]): void;
  /** Reads all claims at each scrape, until the result is disposed of. */
  observeClaims(read: () => Iterable<ClaimTraits>): Disposable;
}

const known = new WeakMap<Entry, ClaimTraits>();

/** Returns the traits of all stored claims. A claim is decoded once. */
export function* storedTraits(claims: Registry): Generator<ClaimTraits> {
  for (const entry of claims.cacher.entries()) {
    const traits = known.get(entry) ?? traitsOf(decodeEntry(entry, claims.info) as ResourceClaim);
    known.set(entry, traits);
    yield traits;
  }
}

export function traitsOf({ metadata, spec, status }: ResourceClaim): ClaimTraits {
  const { annotations = {} } = metadata;
  const isAdmin = (spec.devices?.requests ?? []).some(({ exactly }) => exactly?.adminAccess === true);
  const isTemplated = (annotations[podClaimAnnotation] ?? "") !== "";
  const isExtended = annotations[extendedAnnotation] === "true";
  return {
    allocated: status?.allocation === undefined ? "false" : "true",
    adminAccess: isAdmin ? "true" : "false",
    source: isExtended ? "extended_resource" : isTemplated ? "resource_claim_template" : "",
  };
}
