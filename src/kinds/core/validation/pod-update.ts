import { stringifyJson } from "../../../api/codec/json.ts";
import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson } from "../../../api/json.ts";
import type {
  Affinity,
  Container,
  NodeAffinity,
  NodeSelectorTerm,
  Pod,
  PodSchedulingGate,
  PodSpec,
  Toleration,
} from "../../../api/types/core-v1.ts";
import { unifiedDiff } from "../../../api/unified-diff.ts";
import { internalForm } from "../../../api/validation/internal-form.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { validateImageOfPod } from "./container.ts";
import { validatePodAnnotationsUpdate } from "./pod-annotations.ts";

const forbiddenText =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
const required = "requiredDuringSchedulingIgnoredDuringExecution";
const deadlineMax = 2_147_483_647;

/** Rejects changes of the spec of a pod. Almost all of it is fixed, and the message names the exceptions. */
export function validatePodUpdate(pod: Pod, old: Pod): FieldError[] {
  const { spec: fresh = { containers: null } } = pod;
  const { spec: stored = { containers: null } } = old;
  const errors = validatePodAnnotationsUpdate(
    pod.metadata.annotations ?? {},
    old.metadata.annotations ?? {},
    "metadata.annotations",
  );
  for (const list of ["containers", "initContainers"] as const) {
    const containers = fresh[list] ?? [];
    if (containers.length !== (stored[list] ?? []).length) {
      return [...errors, fieldError.forbidden(`spec.${list}`, "pod updates may not add or remove containers")];
    }
    errors.push(...validateImages(containers, `spec.${list}`));
  }
  const deadline = validateDeadline(fresh.activeDeadlineSeconds, stored.activeDeadlineSeconds);
  errors.push(...deadline);
  if (deadline.length > 0 && fresh.activeDeadlineSeconds !== undefined) return errors;
  errors.push(
    ...validateTolerationsOnlyGrow(fresh.tolerations ?? [], stored.tolerations ?? []),
    ...validateGatesOnlyShrink(fresh.schedulingGates ?? [], stored.schedulingGates ?? []),
  );
  if (isGated(stored)) errors.push(...validateGatedChanges(fresh, stored));
  const rest = asBefore(fresh, stored);
  if (equalJson(rest, stored)) return errors;
  const difference = unifiedDiff(specText(stored), specText(rest));
  return [...errors, fieldError.forbidden("spec", `${forbiddenText}\n${difference}`)];
}

function specText(spec: PodSpec): string {
  return stringifyJson(internalForm(spec, "core/v1.PodSpec"), 1);
}

/** Returns the new spec with the old values of all parts that may change or have been checked already. */
function asBefore(fresh: PodSpec, stored: PodSpec): PodSpec {
  const spec: PodSpec = { ...fresh };
  if (fresh.containers !== null) spec.containers = withImagesOf(stored.containers ?? [], fresh.containers);
  if (fresh.initContainers !== undefined) {
    spec.initContainers = withImagesOf(stored.initContainers ?? [], fresh.initContainers);
  }
  restore(spec, stored, "activeDeadlineSeconds");
  restore(spec, stored, "tolerations");
  restore(spec, stored, "schedulingGates");
  if (isGated(stored)) {
    restore(spec, stored, "nodeSelector");
    restoreNodeAffinity(spec, stored);
  }
  const grace = "terminationGracePeriodSeconds";
  if (spec[grace] === 1 && (stored[grace] ?? 0) < 0) restore(spec, stored, grace);
  return spec;
}

function withImagesOf(old: readonly Container[], containers: readonly Container[]): Container[] {
  return containers.map((container, at) => {
    const restored = { ...container };
    restore(restored, old[at] ?? container, "image");
    return restored;
  });
}

function restoreNodeAffinity(spec: PodSpec, stored: PodSpec): void {
  const affinity: Affinity = { ...spec.affinity };
  restore(affinity, stored.affinity ?? {}, "nodeAffinity");
  if (Object.keys(affinity).length > 0 || stored.affinity !== undefined) spec.affinity = affinity;
  else delete spec.affinity;
}

function restore<T extends object, K extends keyof T>(target: Partial<Pick<T, K>>, source: T, field: K): void {
  if (source[field] === undefined) delete target[field];
  else target[field] = source[field];
}

function isGated({ schedulingGates = [] }: PodSpec): boolean {
  return schedulingGates.length > 0;
}

/** A pod that waits for its gates may restrict its nodes further. */
function validateGatedChanges(fresh: PodSpec, stored: PodSpec): FieldError[] {
  const [selector, oldSelector] = [fresh.nodeSelector ?? {}, stored.nodeSelector ?? {}];
  const errors: FieldError[] = [];
  if (!Object.keys(oldSelector).every((key) => selector[key] === oldSelector[key])) {
    const text = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
    errors.push(fieldError.invalid("spec.nodeSelector", fresh.nodeSelector, text));
  }
  const nodeAffinity = ({ affinity }: PodSpec) => affinity?.nodeAffinity ?? {};
  const field = `spec.affinity.nodeAffinity.${required}.nodeSelectorTerms`;
  return [...errors, ...validateTermsOnlyGrow(nodeAffinity(fresh), nodeAffinity(stored), field)];
}

/** Node affinity may be added. Its preferred terms may change, and its required terms may gain expressions. */
function validateTermsOnlyGrow(fresh: NodeAffinity, stored: NodeAffinity, field: string): FieldError[] {
  const oldTerms = stored[required]?.nodeSelectorTerms ?? [];
  const terms = fresh[required]?.nodeSelectorTerms ?? [];
  if (oldTerms.length === 0) return [];
  if (terms.length !== oldTerms.length) {
    const text = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
    const shown = terms.map((term) => internalForm(term, "core/v1.NodeSelectorTerm"));
    return [fieldError.invalid(field, shown, text)];
  }
  return validateEach(terms, (term, at) => {
    if (hasOnlyGrown(term, oldTerms[at] ?? {})) return [];
    const shown = internalForm(term, "core/v1.NodeSelectorTerm");
    return [fieldError.invalid(`${field}[${at}]`, shown, "only additions are allowed (no mutations or deletions)")];
  });
}

/** A term without expressions selects nothing: the first expression would widen it. */
function hasOnlyGrown(term: NodeSelectorTerm, oldTerm: NodeSelectorTerm): boolean {
  const lists = ["matchExpressions", "matchFields"] as const;
  const isEmpty = (value: NodeSelectorTerm) => lists.every((list) => (value[list] ?? []).length === 0);
  if (isEmpty(oldTerm)) return isEmpty(term);
  return lists.every((list) => (oldTerm[list] ?? []).every((old, at) => equalJson(term[list]?.[at], old)));
}

function validateImages(containers: readonly Container[], field: string): FieldError[] {
  return validateEach(containers, (container, at) => [
    ...((container.image ?? "") === "" ? [fieldError.required(`${field}[${at}].image`)] : []),
    ...validateImageOfPod(container, `${field}[${at}]`),
  ]);
}

/** A deadline may be set or moved earlier. */
function validateDeadline(fresh: number | bigint | undefined, stored: number | bigint | undefined): FieldError[] {
  const field = "spec.activeDeadlineSeconds";
  if (fresh === undefined) {
    if (stored === undefined) return [];
    return [fieldError.invalid(field, null, "must not update from a positive integer to nil value")];
  }
  if (fresh < 0 || fresh > deadlineMax) {
    return [fieldError.invalid(field, fresh, `must be between 0 and ${deadlineMax}, inclusive`)];
  }
  if (stored === undefined || fresh <= stored) return [];
  return [fieldError.invalid(field, fresh, "must be less than or equal to previous value")];
}

function validateTolerationsOnlyGrow(fresh: readonly Toleration[], stored: readonly Toleration[]): FieldError[] {
  const identity = ({ key = "", operator = "", value = "", effect = "" }: Toleration): string =>
    JSON.stringify([key, operator, value, effect]);
  const known = new Set(fresh.map(identity));
  if (stored.every((toleration) => known.has(identity(toleration)))) return [];
  return [
    fieldError.forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds"),
  ];
}

function validateGatesOnlyShrink(
  fresh: readonly PodSchedulingGate[],
  stored: readonly PodSchedulingGate[],
): FieldError[] {
  const known = new Set(stored.map(({ name }) => name));
  return validateEach(fresh, ({ name }, at) => {
    if (known.has(name)) return [];
    const text = `only deletion is allowed, but found new scheduling gate '${name}'`;
    return [fieldError.forbidden(`spec.schedulingGates[${at}].name`, text)];
  });
}
