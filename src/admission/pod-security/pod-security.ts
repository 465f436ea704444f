import { equalJson, type JsonObject, type JsonValue } from "../../api/json.ts";
import type { ObjectMeta } from "../../api/object-meta.ts";
import { status } from "../../api/status.ts";
import type { Pod, PodSpec } from "../../api/types/core-v1.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../../registry/admission.ts";
import type { ObjectLookup } from "../../registry/object-lookup.ts";
import { isResource, refuse } from "../attributes.ts";
import { violations, violationsText } from "./checks.ts";
import {
  isPrivileged,
  isStricter,
  type LevelVersion,
  labelPrefix,
  levelVersionText,
  type Policy,
  policyOf,
} from "./policy.ts";
import type { PodView, Violation } from "./violation.ts";

/** Maximum number of pods of a namespace that are checked when its labels change. More would delay the request. */
const existingPodsMax = 3_000;

/** Subresources of a pod without its spec. */
const ignoredSubresources = new Set(["exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status"]);

/** Path of the pod template in each workload resource. */
const templatePaths: Readonly<Record<string, readonly string[]>> = {
  "/podtemplates": ["template"],
  "/replicationcontrollers": ["spec", "template"],
  "apps/daemonsets": ["spec", "template"],
  "apps/deployments": ["spec", "template"],
  "apps/replicasets": ["spec", "template"],
  "apps/statefulsets": ["spec", "template"],
  "batch/cronjobs": ["spec", "jobTemplate", "spec", "template"],
  "batch/jobs": ["spec", "template"],
};

/**
 * Enforces the level that the labels of a namespace set. A workload resource is not rejected; its creator gets a
 * warning about its future pods.
 */
export function podSecurity({ lookup }: { lookup: ObjectLookup }): AdmissionPlugin {
  return {
    name: "PodSecurity",
    validate(attributes) {
      if (attributes.operation === "DELETE" || attributes.object === undefined) return;
      if (isResource(attributes, "", "namespaces")) judgeNamespace(attributes, lookup);
      else if (isResource(attributes, "", "pods")) judgePod(attributes, lookup);
      else judgeTemplate(attributes, lookup);
    },
  };
}

function judgePod(attributes: AdmissionAttributes, lookup: ObjectLookup): void {
  const { subresource, object, oldObject } = attributes;
  if (ignoredSubresources.has(subresource)) return;
  const { policy, errors } = namespacePolicy(attributes, lookup);
  if (errors.length === 0 && [policy.enforce, policy.warn, policy.audit].every(isPrivileged)) return;
  if (oldObject !== undefined && !isSignificant(viewOf(object as Pod), viewOf(oldObject as Pod))) return;
  judge(attributes, viewOf(object as Pod), policy, errors, true);
}

function judgeTemplate(attributes: AdmissionAttributes, lookup: ObjectLookup): void {
  const { info, subresource, object } = attributes;
  const path = templatePaths[`${info.group}/${info.resource}`];
  if (path === undefined || subresource !== "") return;
  const { policy, errors } = namespacePolicy(attributes, lookup);
  if (errors.length === 0 && isPrivileged(policy.warn) && isPrivileged(policy.audit)) return;
  const template = valueAt(object as unknown as JsonObject, path) as
    | { metadata?: ObjectMeta; spec?: PodSpec }
    | undefined;
  if (template === undefined) return;
  judge(attributes, viewOf(template), policy, errors, false);
}

/** Checks a pod or a template. @throws StatusError 403 when it is a pod and the level is enforced */
function judge(
  attributes: AdmissionAttributes,
  pod: PodView,
  policy: Policy,
  errors: readonly string[],
  enforce: boolean,
): void {
  if (errors.length > 0) {
    attributes.annotate(`${labelPrefix}error`, `Failed to parse policy: ${errors.join(", ")}`);
  }
  const found = memoized(pod);
  const told = (at: LevelVersion) =>
    `PodSecurity ${JSON.stringify(levelVersionText(at))}: ${violationsText(found(at))}`;
  if (found(policy.audit).length > 0) {
    attributes.annotate(`${labelPrefix}audit-violations`, `would violate ${told(policy.audit)}`);
  }
  if (enforce) attributes.annotate(`${labelPrefix}enforce-policy`, levelVersionText(policy.enforce));
  if (enforce && found(policy.enforce).length > 0) throw refuse(attributes, `violates ${told(policy.enforce)}`);
  if (found(policy.warn).length > 0) attributes.warn(`would violate ${told(policy.warn)}`);
}

function memoized(pod: PodView): (at: LevelVersion) => readonly Violation[] {
  const known = new Map<string, readonly Violation[]>();
  return (at) => {
    const key = levelVersionText(at);
    const found = known.get(key) ?? violations(at, pod);
    known.set(key, found);
    return found;
  };
}

/** Checks a namespace. @throws StatusError 422 for invalid labels */
function judgeNamespace(attributes: AdmissionAttributes, lookup: ObjectLookup): void {
  const { operation, subresource, object, oldObject } = attributes;
  if (subresource !== "" || object === undefined) return;
  const name = object.metadata.name ?? "";
  const { policy, errors } = policyOf(object.metadata.labels ?? {});
  const before = policyOf(oldObject?.metadata.labels ?? {});
  const isOld = operation === "UPDATE" && equalJson(errors as never, before.errors as never);
  if (errors.length > 0 && !isOld) throw status.invalid({ group: "", kind: "Namespace", name }, errors);
  if (operation !== "UPDATE" || !tightens(policy.enforce, before.policy.enforce)) return;
  for (const warning of existingPodWarnings(name, policy.enforce, lookup)) attributes.warn(warning);
}

function tightens(now: LevelVersion, before: LevelVersion): boolean {
  if (isPrivileged(now) || (now.level === before.level && now.minor === before.minor)) return false;
  return now.minor !== before.minor || isStricter(now.level, before.level);
}

/** Returns a warning for each kind of violation, with the name of one pod and the number of others. */
function existingPodWarnings(namespace: string, enforce: LevelVersion, lookup: ObjectLookup): readonly string[] {
  const pods = [...lookup.scan({ group: "", resource: "pods" }, namespace)];
  const names = new Map<string, string[]>();
  for (const { read } of pods.slice(0, existingPodsMax)) {
    const pod = read() as Pod;
    const found = violations(enforce, viewOf(pod));
    if (found.length === 0) continue;
    const reasons = found.map(({ reason }) => reason).join(", ");
    names.set(reasons, [...(names.get(reasons) ?? []), pod.metadata.name ?? ""]);
  }
  if (names.size === 0) return [];
  const level = JSON.stringify(levelVersionText(enforce));
  const lines = [...names].map(([reasons, violating]) => `${podsText(violating)}: ${reasons}`).sort();
  const unchecked =
    pods.length > existingPodsMax
      ? [
          `new PodSecurity enforce level only checked against the first ${existingPodsMax} of ${pods.length} existing pods`,
        ]
      : [];
  return [
    ...unchecked,
    `existing pods in namespace ${JSON.stringify(namespace)} violate the new PodSecurity enforce level ${level}`,
    ...lines,
  ];
}

function podsText(names: readonly string[]): string {
  const [first = ""] = [...names].sort();
  const others = names.length - 1;
  if (others === 0) return first;
  return `${first} (and ${others} other ${others === 1 ? "pod" : "pods"})`;
}

function namespacePolicy(
  { namespace }: AdmissionAttributes,
  lookup: ObjectLookup,
): { policy: Policy; errors: readonly string[] } {
  const found = lookup.get({ group: "", resource: "namespaces" }, "", namespace);
  const { policy, errors } = policyOf(found?.metadata.labels ?? {});
  return { policy, errors: errors.map(({ field, message }) => `${field}: ${message}`) };
}

function viewOf({ metadata, spec }: { metadata?: ObjectMeta; spec?: PodSpec }): PodView {
  return { annotations: metadata?.annotations ?? {}, spec: spec ?? { containers: null } };
}

/** Reports whether an update must be checked. Changes of an image or of the scheduling need no check. */
function isSignificant(pod: PodView, old: PodView): boolean {
  return !equalJson(judged(pod), judged(old));
}

function judged({ annotations, spec }: PodView): JsonValue {
  const withoutImage = (containers: readonly { image?: string }[] | null = []) =>
    (containers ?? []).map(({ image: _image, ...container }) => container);
  const { initContainers, containers, ephemeralContainers, volumes, securityContext, os } = spec;
  return {
    annotations: Object.fromEntries(Object.entries(annotations).filter(([key]) => key.includes("security."))),
    initContainers: withoutImage(initContainers),
    containers: withoutImage(containers),
    ephemeralContainers: withoutImage(ephemeralContainers),
    volumes: volumes ?? [],
    securityContext: securityContext ?? {},
    host: [spec.hostNetwork ?? false, spec.hostPID ?? false, spec.hostIPC ?? false, spec.hostUsers ?? true],
    os: os ?? {},
  } as unknown as JsonValue;
}

function valueAt(object: JsonObject, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = object;
  for (const name of path) value = (value as JsonObject | undefined)?.[name];
  return value;
}
