import { createHash } from "node:crypto";
import type { OwnerReference } from "../../api/object-meta.ts";
import type { Pod, PodResourceClaim } from "../../api/types/core-v1.ts";
import type { ResourceClaim, ResourceClaimTemplate } from "../../api/types/resource-v1.ts";
import { generatedName, type RandomInt } from "../../registry/random-name.ts";

/** Annotation of a claim that was made for a pod, with the pod's own name for it. */
export const podClaimAnnotation = "resource.kubernetes.io/pod-claim-name";
/** Longest prefix of a name to which a hyphen and random characters are added. */
const prefixLengthMax = 57;
const reservationsMax = 256;

/** The claim that stands for an entry of a pod's `resourceClaims`. */
export type NamedClaim =
  | { readonly kind: "named"; readonly name: string; readonly isGenerated: boolean }
  /** It is yet to be made from a template. */
  | { readonly kind: "missing" }
  /** The pod runs without it. */
  | { readonly kind: "unneeded" };

export function namedClaim({ status }: Pod, claim: PodResourceClaim): NamedClaim {
  const { name, resourceClaimName } = claim;
  if (resourceClaimName !== undefined) return { kind: "named", name: resourceClaimName, isGenerated: false };
  const found = status?.resourceClaimStatuses?.find((one) => one.name === name);
  if (found === undefined) return { kind: "missing" };
  const { resourceClaimName: generated } = found;
  return generated === undefined ? { kind: "unneeded" } : { kind: "named", name: generated, isGenerated: true };
}

/** Returns the names of all claims that a pod has. */
export function claimNamesOf(pod: Pod): string[] {
  const own = (pod.spec?.resourceClaims ?? []).map((claim) => namedClaim(pod, claim));
  const extended = pod.status?.extendedResourceClaimStatus?.resourceClaimName;
  const names = own.flatMap((claim) => (claim.kind === "named" ? [claim.name] : []));
  return extended === undefined ? names : [...names, extended];
}

/** Reports whether the pod will not run any more, so that it needs no claims. */
export function isDone({ metadata, spec, status }: Pod): boolean {
  const isOver = status?.phase === "Succeeded" || status?.phase === "Failed";
  return isOver || (metadata.deletionTimestamp !== undefined && (spec?.nodeName ?? "") === "");
}

/** Returns the pod that a claim was made for. */
export function owningPod({ metadata }: ResourceClaim): OwnerReference | undefined {
  return metadata.ownerReferences?.find(
    ({ controller, apiVersion, kind }) => controller === true && apiVersion === "v1" && kind === "Pod",
  );
}

export function isReservedFor({ status }: ResourceClaim, { metadata }: Pod): boolean {
  return status?.reservedFor?.some(({ uid }) => uid === metadata.uid) ?? false;
}

/** Reports whether the devices of a claim are there for a pod that has not reserved them yet. */
export function mayReserve(claim: ResourceClaim, pod: Pod): boolean {
  const { allocation, reservedFor = [] } = claim.status ?? {};
  return allocation !== undefined && !isReservedFor(claim, pod) && reservedFor.length < reservationsMax;
}

/**
 * Makes a claim from a template. It goes with the pod. Its name looks generated and follows from the pod's uid, so that
 * an attempt with an unknown outcome can be repeated without a second claim.
 * @param taken number of such names that other claims have
 */
export function claimFrom(template: ResourceClaimTemplate, pod: Pod, podClaim: string, taken: number): ResourceClaim {
  const { name = "", namespace = "", uid = "" } = pod.metadata;
  const { labels, annotations } = template.spec.metadata ?? {};
  const generateName = namePrefix(name, podClaim);
  return {
    kind: "ResourceClaim",
    apiVersion: "resource.k8s.io/v1",
    metadata: {
      name: generatedName(generateName, drawsFrom(`${uid} ${podClaim} ${taken}`)),
      generateName,
      namespace,
      ...(labels !== undefined && { labels }),
      annotations: { ...annotations, [podClaimAnnotation]: podClaim },
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid, controller: true }],
    },
    spec: template.spec.spec,
  };
}

function drawsFrom(seed: string): RandomInt {
  const bytes = createHash("sha256").update(seed).digest().values();
  return (below) => (bytes.next().value ?? 0) % below;
}

/** Shortens both names in proportion, so that something of each is left. */
function namePrefix(pod: string, podClaim: string): string {
  const prefix = `${pod}-${podClaim}-`;
  if (prefix.length <= prefixLengthMax) return prefix;
  const cut = (text: string) => text.slice(0, Math.floor((text.length * prefixLengthMax) / prefix.length));
  return `${cut(pod)}-${cut(podClaim)}`;
}
