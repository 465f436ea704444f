import type { GroupResource } from "../api/gvk.ts";
import type { ObjectMeta } from "../api/object-meta.ts";
import { formatTime } from "../api/time.ts";
import type { Namespace, NamespaceCondition } from "../api/types/core-v1.ts";

/** Number of failures that a condition quotes, at most one for each resource. */
const failuresShownMax = 20;

/**
 * The remaining contents of a namespace: the number of objects of each resource and for each finalizer, and the failed
 * deletions.
 */
export class NamespaceContent {
  readonly #objects = new Map<string, number>();
  readonly #finalizers = new Map<string, number>();
  readonly #failures: string[] = [];
  readonly #undiscovered = new Set<string>();

  add({ group, resource }: GroupResource, { finalizers = [] }: ObjectMeta): void {
    count(this.#objects, `${resource}.${group}`);
    for (const finalizer of finalizers) count(this.#finalizers, finalizer);
  }

  /** Records that the objects of a resource could not be deleted. */
  addFailure(message: string): void {
    this.#failures.push(message);
  }

  /** Notes a group version whose resources could not be read, and so may have objects. */
  addUndiscovered(apiVersion: string): void {
    this.#undiscovered.add(apiVersion);
  }

  get isEmpty(): boolean {
    return !this.hasObjects && this.#undiscovered.size === 0;
  }

  /** Reports whether objects are known to remain. */
  get hasObjects(): boolean {
    return this.#objects.size > 0 || this.#failures.length > 0;
  }

  /** Text of the group versions whose resources could not be read, as clients word it, or "". */
  get undiscovered(): string {
    const shown = [...this.#undiscovered].sort().slice(0, failuresShownMax);
    if (shown.length === 0) return "";
    const texts = shown.map((apiVersion) => `${apiVersion}: stale GroupVersion discovery: ${apiVersion}`);
    return `${this.#undiscovered.size} failing: unable to retrieve the complete list of server APIs: ${texts.join(", ")}`;
  }

  /** Returns text such as `pods. has 1 resource instances, deployments.apps has 2 resource instances`. */
  get objects(): string {
    return sorted(this.#objects)
      .map(([name, number]) => `${name} has ${number} resource instances`)
      .join(", ");
  }

  /** Returns text such as `2 remaining: no, never`, or "". */
  get failures(): string {
    const shown = this.#failures.toSorted().slice(0, failuresShownMax);
    return shown.length === 0 ? "" : `${this.#failures.length} remaining: ${shown.join(", ")}`;
  }

  /** Returns the text of the finalizers, or "". */
  get finalizers(): string {
    return sorted(this.#finalizers)
      .map(([name, number]) => `${name} in ${number} resource instances`)
      .join(", ");
  }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function sorted(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** A condition without the time of its last change. */
type Finding = Pick<NamespaceCondition, "type" | "status" | "reason" | "message">;

/** Returns the namespace with conditions for its remaining contents. Unchanged conditions keep their time. */
export function withContentConditions(namespace: Namespace, content: NamespaceContent, nowMs: number): Namespace {
  const held = namespace.status?.conditions ?? [];
  const conditions = conditionsOf(content).map((condition): NamespaceCondition => {
    const before = held.find(({ type }) => type === condition.type);
    const since = before?.status === condition.status ? before.lastTransitionTime : undefined;
    const { type, status: value, ...rest } = condition;
    return { type, status: value, lastTransitionTime: since ?? formatTime(nowMs), ...rest };
  });
  const others = held.filter(({ type }) => !conditions.some((condition) => condition.type === type));
  return { ...namespace, status: { ...namespace.status, conditions: [...others, ...conditions] } };
}

function conditionsOf({ objects, finalizers, failures, undiscovered }: NamespaceContent): Finding[] {
  const [remains, isHeld, isFailing] = [objects !== "", finalizers !== "", failures !== ""];
  const isUndiscovered = undiscovered !== "";
  return [
    {
      type: "NamespaceDeletionDiscoveryFailure",
      status: isUndiscovered ? "True" : "False",
      reason: isUndiscovered ? "DiscoveryFailed" : "ResourcesDiscovered",
      message: isUndiscovered
        ? `Discovery failed for some groups, ${undiscovered}`
        : "All resources successfully discovered",
    },
    {
      type: "NamespaceDeletionGroupVersionParsingFailure",
      status: "False",
      reason: "ParsedGroupVersions",
      message: "All legacy kube types successfully parsed",
    },
    {
      type: "NamespaceDeletionContentFailure",
      status: isFailing ? "True" : "False",
      reason: isFailing ? "ContentDeletionFailed" : "ContentDeleted",
      message: isFailing
        ? `Failed to delete all resource types, ${failures}`
        : "All content successfully deleted, may be waiting on finalization",
    },
    {
      type: "NamespaceContentRemaining",
      status: remains ? "True" : "False",
      reason: remains ? "SomeResourcesRemain" : "ContentRemoved",
      message: remains ? `Some resources are remaining: ${objects}` : "All content successfully removed",
    },
    {
      type: "NamespaceFinalizersRemaining",
      status: isHeld ? "True" : "False",
      reason: isHeld ? "SomeFinalizersRemain" : "ContentHasNoFinalizers",
      message: isHeld
        ? `Some content in the namespace has finalizers remaining: ${finalizers}`
        : "All content-preserving finalizers finished",
    },
  ];
}
