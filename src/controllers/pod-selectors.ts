import type { Entry } from "../api/entry.ts";
import { type LabelSelector, matchesLabels } from "../api/label-selector.ts";
import type { StoreEvent } from "../storage/store.ts";

const none: ReadonlySet<string> = new Set();

/** The selectors by which objects choose the pods of their namespace, by the names of the objects. */
export class PodSelectors {
  readonly #byNamespace = new Map<string, Map<string, LabelSelector>>();

  /** Records the selector of an object, or that it has none. */
  set(namespace: string, name: string, selector: LabelSelector | undefined): void {
    const selectors = this.#byNamespace.get(namespace) ?? new Map<string, LabelSelector>();
    if (selector === undefined) selectors.delete(name);
    else selectors.set(name, selector);
    if (selectors.size > 0) this.#byNamespace.set(namespace, selectors);
    else this.#byNamespace.delete(namespace);
  }

  /** Returns the names of the objects that choose a pod. */
  matching(namespace: string, { index: { labels } }: Entry): ReadonlySet<string> {
    const selectors = this.#byNamespace.get(namespace);
    if (selectors === undefined) return none;
    const names = new Set<string>();
    for (const [name, selector] of selectors) if (matchesLabels(selector, labels)) names.add(name);
    return names;
  }

  /**
   * Returns the names of the objects that a change of a pod concerns. A pod that an object chooses before and after
   * concerns it only if `differ` finds a difference; undefined stands for a pod that does not exist.
   */
  concernedBy(
    { type, entry, previous }: StoreEvent,
    namespace: string,
    differ: (before: Entry | undefined, after: Entry | undefined) => boolean,
  ): ReadonlySet<string> {
    const after = this.matching(namespace, entry);
    const isSame = previous === undefined || previous.index.labels === entry.index.labels;
    const before = isSame ? after : this.matching(namespace, previous);
    if (before.size === 0 && after.size === 0) return none;
    const isChanged = differ(previous, type === "DELETED" ? undefined : entry);
    return isChanged ? before.union(after) : before.symmetricDifference(after);
  }
}
