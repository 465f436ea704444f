import { decodeBody } from "../../api/codec/stored-object.ts";
import type { Entry } from "../../api/entry.ts";
import type { OwnerReference } from "../../api/object-meta.ts";
import type { Pod } from "../../api/types/core-v1.ts";

/** The facts of a pod that its disruption budgets count. */
export interface BudgetPod {
  readonly name: string;
  readonly isReady: boolean;
  readonly isTerminating: boolean;
  /** The owner that replaces the pod. */
  readonly controller: OwnerReference | undefined;
}

/** An entry never changes, so its facts are computed once for all budgets that cover the pod. */
const facts = new WeakMap<Entry, BudgetPod>();

export function budgetPodOf(entry: Entry): BudgetPod {
  let pod = facts.get(entry);
  if (pod === undefined) facts.set(entry, (pod = readPod(decodeBody(entry) as unknown as Pod)));
  return pod;
}

/** Reports whether two states of a pod differ in what budgets count. */
export function countsDiffer(old: Entry | undefined, entry: Entry | undefined): boolean {
  const [before, after] = [old && budgetPodOf(old), entry && budgetPodOf(entry)];
  if (before === undefined || after === undefined) return before !== after;
  return (
    before.isReady !== after.isReady ||
    before.isTerminating !== after.isTerminating ||
    before.controller?.uid !== after.controller?.uid
  );
}

function readPod({ metadata, status }: Pod): BudgetPod {
  return {
    name: metadata.name ?? "",
    isReady: status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false,
    isTerminating: metadata.deletionTimestamp !== undefined,
    controller: metadata.ownerReferences?.find(({ controller }) => controller === true),
  };
}
