import type { GroupResource } from "../../api/gvk.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { addQuantities, compareQuantities } from "../../api/quantity.ts";
import type { Container, Pod, ResourceQuota } from "../../api/types/core-v1.ts";
import { podSpecOf } from "../pod.ts";
import type { Amounts } from "../pod-resources.ts";
import { amountsText, hardOf, noAmount } from "./quota.ts";
import { isInScope, type ScopeFacts, scopeFactsOf } from "./scopes.ts";
import { usageOf } from "./usage.ts";

/** A write as the quotas of its namespace see it. */
export interface QuotaRequest {
  readonly resource: GroupResource;
  readonly object: KubeObject;
  readonly facts: ScopeFacts;
  /** Amounts before the write; empty for a creation. */
  readonly before: Amounts;
  readonly usage: Amounts;
}

/** Resources that every container has to specify if they are limited. Others count as zero. */
const namedByContainers = ["cpu", "limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory"];

export function quotaRequest(
  resource: GroupResource,
  object: KubeObject,
  old: KubeObject | undefined,
  nowMs: number,
): QuotaRequest {
  const before: Amounts = old === undefined ? new Map() : usageOf(resource, old, nowMs);
  const facts = scopeFactsOf(resource, object);
  return { resource, object, facts, before, usage: usageOf(resource, object, nowMs) };
}

/**
 * Returns the amounts that the write adds to this quota; empty if the quota does not match. Freed amounts are not
 * included, because they are free only after the write.
 */
export function chargeOf(quota: ResourceQuota, { facts, before, usage }: QuotaRequest): Amounts {
  if (!isInScope(quota, facts)) return new Map();
  const charge = new Map<string, typeof noAmount>();
  for (const name of hardOf(quota).keys()) {
    const now = usage.get(name) ?? noAmount;
    const nanos = now.nanos - (before.get(name)?.nanos ?? 0n);
    if (nanos > 0n) charge.set(name, { ...now, nanos });
  }
  return charge;
}

/** Reports whether the write reduces any amount of the object. */
export function frees({ before, usage }: QuotaRequest): boolean {
  return [...before].some(([name, amount]) => amount.nanos > (usage.get(name)?.nanos ?? 0n));
}

/**
 * Returns `must specify limits.cpu for: c1,c2; requests.memory for: c2`, or undefined when everything required is
 * specified.
 */
export function unspecified(quota: ResourceQuota, { facts, object }: QuotaRequest): string | undefined {
  if (facts.kind !== "pod" || !isInScope(quota, facts)) return undefined;
  const { containers, initContainers = [] } = podSpecOf(object as Pod);
  const hard = hardOf(quota);
  const problems = namedByContainers
    .filter((name) => hard.has(name))
    .flatMap((name) => {
      const silent = [...(containers ?? []), ...initContainers].filter((container) => !says(container, name));
      return silent.length === 0
        ? []
        : [
            `${name} for: ${silent
              .map((container) => container.name)
              .toSorted()
              .join(",")}`,
          ];
    });
  return problems.length === 0 ? undefined : `must specify ${problems.join("; ")}`;
}

/** Reports whether a container specifies a resource. `cpu` is the older name of `requests.cpu`. */
function says({ resources }: Container, name: string): boolean {
  const [kind = "", resource = ""] = name.includes(".") ? name.split(".") : ["requests", name];
  return (kind === "limits" ? resources?.limits : resources?.requests)?.[resource] !== undefined;
}

/** Returns `exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2`, or undefined. */
export function exceeded(quota: ResourceQuota, used: Amounts, charge: Amounts): string | undefined {
  const hard = hardOf(quota);
  const over = [...charge].flatMap(([name, requested]) => {
    const total = addQuantities(used.get(name) ?? noAmount, requested);
    return compareQuantities(total, hard.get(name) ?? noAmount) > 0 ? [name] : [];
  });
  if (over.length === 0) return undefined;
  const name = quota.metadata.name ?? "";
  return `exceeded quota: ${name}, requested: ${amountsText(charge, over)}, used: ${amountsText(used, over)}, limited: ${amountsText(hard, over)}`;
}
