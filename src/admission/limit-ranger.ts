import type { KubeObject } from "../api/object-meta.ts";
import { compareQuantities, formatQuantity, type Quantity } from "../api/quantity.ts";
import type {
  Container,
  LimitRange,
  LimitRangeItem,
  PersistentVolumeClaim,
  Pod,
  PodSpec,
  ResourceList,
} from "../api/types/core-v1.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../registry/admission.ts";
import type { ObjectLookup } from "../registry/object-lookup.ts";
import { isObjectWrite, isResource, refuse } from "./attributes.ts";
import { podSpecOf } from "./pod.ts";
import { type Amounts, amountsOf, podLimits, podRequests } from "./pod-resources.ts";

const annotation = "kubernetes.io/limit-ranger";
const nanosPerUnit = 1e9;

/** Sets the namespace's default resources of containers and rejects anything larger than it allows. */
export function limitRanger({ lookup }: { lookup: ObjectLookup }): AdmissionPlugin {
  return {
    name: "LimitRanger",
    admit(attributes) {
      if (!isPodCreation(attributes)) return;
      for (const range of rangesOf(attributes, lookup)) setDefaults(attributes.object as Pod, range);
    },
    validate(attributes) {
      const problemsOf =
        isPodCreation(attributes) || isPodResize(attributes)
          ? podProblems
          : isObjectWrite(attributes, { group: "", resource: "persistentvolumeclaims" })
            ? claimProblems
            : undefined;
      if (problemsOf === undefined || attributes.object === undefined) return;
      for (const range of rangesOf(attributes, lookup)) {
        const problems = problemsOf(attributes.object, range.spec?.limits ?? []);
        if (problems.length > 0) throw refuse(attributes, joined(problems));
      }
    },
  };
}

function isPodCreation(attributes: AdmissionAttributes): boolean {
  return attributes.operation === "CREATE" && isObjectWrite(attributes, { group: "", resource: "pods" });
}

function isPodResize(attributes: AdmissionAttributes): boolean {
  return attributes.operation === "UPDATE" && attributes.subresource === "resize" && isResource(attributes, "", "pods");
}

function rangesOf({ namespace }: AdmissionAttributes, lookup: ObjectLookup): readonly LimitRange[] {
  return lookup.list({ group: "", resource: "limitranges" }, namespace) as readonly LimitRange[];
}

function joined(problems: readonly string[]): string {
  const distinct = [...new Set(problems)];
  return distinct.length === 1 ? (distinct[0] as string) : `[${distinct.join(", ")}]`;
}

function setDefaults(pod: Pod, { spec }: LimitRange): void {
  const items = (spec?.limits ?? []).filter(({ type }) => type === "Container");
  const limits = items.reduce<ResourceList>((all, item) => ({ ...all, ...item.default }), {});
  const requests = items.reduce<ResourceList>((all, item) => ({ ...all, ...item.defaultRequest }), {});
  const done = [
    ...(pod.spec?.containers ?? []).flatMap((container) => fillIn(container, "container", requests, limits)),
    ...(pod.spec?.initContainers ?? []).flatMap((container) => fillIn(container, "init container", requests, limits)),
  ];
  if (done.length === 0) return;
  const text = `LimitRanger plugin set: ${done.join("; ")}`;
  pod.metadata.annotations = { ...pod.metadata.annotations, [annotation]: text };
}

/** Sets missing resources and returns a description: `cpu, memory request for container c`. */
function fillIn(container: Container, what: string, requests: ResourceList, limits: ResourceList): string[] {
  const resources = container.resources ?? {};
  const missingRequests = missing(resources.requests, requests);
  const missingLimits = missing(resources.limits, limits);
  if (missingRequests.length + missingLimits.length === 0) return [];
  container.resources = { ...resources };
  if (missingRequests.length > 0) container.resources.requests = { ...requests, ...resources.requests };
  if (missingLimits.length > 0) container.resources.limits = { ...limits, ...resources.limits };
  return [
    ...(missingRequests.length === 0 ? [] : [`${missingRequests.join(", ")} request for ${what} ${container.name}`]),
    ...(missingLimits.length === 0 ? [] : [`${missingLimits.join(", ")} limit for ${what} ${container.name}`]),
  ];
}

function missing(own: ResourceList | undefined, defaults: ResourceList): string[] {
  return Object.keys(defaults)
    .filter((name) => own?.[name] === undefined)
    .sort();
}

function podProblems(object: KubeObject, limits: readonly LimitRangeItem[]): string[] {
  const spec = podSpecOf(object as Pod);
  return limits.flatMap((item) => {
    if (item.type === "Container") return containerProblems(spec, item);
    return item.type === "Pod" ? usageProblems(item, podRequests(spec), podLimits(spec)) : [];
  });
}

function containerProblems({ containers, initContainers = [] }: PodSpec, item: LimitRangeItem): string[] {
  return [...(containers ?? []), ...initContainers].flatMap(({ resources }) =>
    usageProblems(item, amountsOf(resources?.requests), amountsOf(resources?.limits)),
  );
}

function usageProblems(item: LimitRangeItem, requests: Amounts, limits: Amounts): string[] {
  const { type = "" } = item;
  const check = (list: ResourceList | undefined, rule: Rule) =>
    [...amountsOf(list)].flatMap(([name, bound]) => {
      return rule({ name, type, bound, request: requests.get(name), limit: limits.get(name) }) ?? [];
    });
  return [...check(item.min, belowMin), ...check(item.max, aboveMax), ...check(item.maxLimitRequestRatio, aboveRatio)];
}

interface Usage {
  readonly name: string;
  /** Kind: Container or Pod. */
  readonly type: string;
  readonly bound: Quantity;
  readonly request: Quantity | undefined;
  readonly limit: Quantity | undefined;
}
/** Returns the problem with a usage, or undefined. */
type Rule = (usage: Usage) => string | undefined;

function belowMin({ name, type, bound, request, limit }: Usage): string | undefined {
  const text = `minimum ${name} usage per ${type} is ${formatQuantity(bound)}`;
  if (request === undefined) return `${text}.  No request is specified`;
  if (compareQuantities(request, bound) < 0) return `${text}, but request is ${formatQuantity(request)}`;
  if (limit === undefined || compareQuantities(limit, bound) >= 0) return undefined;
  return `${text}, but limit is ${formatQuantity(limit)}`;
}

function aboveMax({ name, type, bound, request, limit }: Usage): string | undefined {
  const text = `maximum ${name} usage per ${type} is ${formatQuantity(bound)}`;
  if (limit === undefined) return `${text}.  No limit is specified`;
  if (compareQuantities(limit, bound) > 0) return `${text}, but limit is ${formatQuantity(limit)}`;
  if (request === undefined || compareQuantities(request, bound) <= 0) return undefined;
  return `${text}, but request is ${formatQuantity(request)}`;
}

function aboveRatio({ name, type, bound, request, limit }: Usage): string | undefined {
  const text = `${name} max limit to request ratio per ${type} is ${formatQuantity(bound)}`;
  if (request === undefined || request.nanos === 0n) {
    return `${text}, but no request is specified or request is 0`;
  }
  if (limit === undefined || limit.nanos === 0n) return `${text}, but no limit is specified or limit is 0`;
  const ratio = Number(limit.nanos) / Number(request.nanos);
  return ratio > Number(bound.nanos) / nanosPerUnit ? `${text}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
}

function claimProblems(object: KubeObject, limits: readonly LimitRangeItem[]): string[] {
  const { spec } = object as PersistentVolumeClaim;
  const requests = amountsOf(spec?.resources?.requests);
  return limits
    .filter(({ type }) => type === "PersistentVolumeClaim")
    .flatMap(({ type = "", min, max }) => [
      ...[...amountsOf(min)].flatMap(([name, bound]) => {
        return belowMin({ name, type, bound, request: requests.get(name), limit: undefined }) ?? [];
      }),
      ...[...amountsOf(max)].flatMap(([name, bound]) => aboveMaxRequest(name, type, bound, requests.get(name)) ?? []),
    ]);
}

/** Checks the request of storage, which has no limit. */
function aboveMaxRequest(
  name: string,
  type: string,
  bound: Quantity,
  request: Quantity | undefined,
): string | undefined {
  const text = `maximum ${name} usage per ${type} is ${formatQuantity(bound)}`;
  if (request === undefined) return `${text}.  No request is specified`;
  return compareQuantities(request, bound) > 0 ? `${text}, but request is ${formatQuantity(request)}` : undefined;
}
