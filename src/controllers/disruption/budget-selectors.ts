import { type LabelSelector, matchesLabels } from "../../api/label-selector.ts";
import { labelSelectorOf } from "../../api/label-selector-object.ts";
import type { PodDisruptionBudget } from "../../api/types/policy-v1.ts";

/** Returns the selector of the pods that a budget covers; undefined if it covers none. */
export function budgetSelector({ spec }: PodDisruptionBudget): LabelSelector | undefined {
  return spec?.selector === undefined ? undefined : labelSelectorOf(spec.selector);
}

/** Selectors of budgets, by namespace. */
export class BudgetSelectors {
  readonly #byNamespace = new Map<string, Map<string, LabelSelector>>();

  /** Records the selector of a budget, or that it has none. */
  set(namespace: string, name: string, selector: LabelSelector | undefined): void {
    const budgets = this.#byNamespace.get(namespace) ?? new Map<string, LabelSelector>();
    if (selector === undefined) budgets.delete(name);
    else budgets.set(name, selector);
    if (budgets.size > 0) this.#byNamespace.set(namespace, budgets);
    else this.#byNamespace.delete(namespace);
  }

  /** Returns the names of the budgets that cover a pod with these labels. */
  covering(namespace: string, labels: Readonly<Record<string, string>> = {}): ReadonlySet<string> {
    const budgets = this.#byNamespace.get(namespace) ?? [];
    return new Set([...budgets].filter(([, selector]) => matchesLabels(selector, labels)).map(([name]) => name));
  }
}
