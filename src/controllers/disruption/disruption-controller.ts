import type { Key } from "../../api/entry.ts";
import type { LabelSelector } from "../../api/label-selector.ts";
import { labelSelectorOf } from "../../api/label-selector-object.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { StatusError } from "../../api/status.ts";
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from "../../api/types/policy-v1.ts";
import type { Clock } from "../../process/clock.ts";
import { thrownText } from "../../process/thrown-text.ts";
import { TurnSlice } from "../../process/turn-slice.ts";
import type { Registry } from "../../registry/registry.ts";
import { controllerManagerContext } from "../../registry/server-context.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { type Store, type StoreEvent, StoreUnavailableError } from "../../storage/store.ts";
import type { RecordEvent } from "../events/record-event.ts";
import { followObjects } from "../follow-objects.ts";
import { namesOf } from "../object-key.ts";
import { PodSelectors } from "../pod-selectors.ts";
import { selectedPods } from "../selected-pods.ts";
import { type QueueSource, WorkQueue } from "../work-queue.ts";
import { type BudgetPod, budgetPodOf, countsDiffer } from "./budget-pod.ts";
import {
  dependsOnScale,
  disruptionsOf,
  type Expectation,
  expectationOf,
  failedStatus,
  nextStatus,
} from "./budget-status.ts";
import { type PodScales, ScaleError } from "./pod-scales.ts";
import { selectorText } from "./selector-text.ts";

export interface DisruptionControllerParts extends QueueSource {
  readonly budgets: Registry;
  readonly budgetStatus: Strategy;
  readonly pods: Registry;
  readonly scales: Pick<PodScales, "expected">;
  readonly store: Store;
  readonly clock: Clock;
  readonly record: RecordEvent;
  readonly onError: (error: unknown) => void;
}

/** Counts the pods of disruption budgets, so that evictions know whether they are allowed. */
export class DisruptionController {
  readonly #parts: DisruptionControllerParts;
  readonly #selectors = new PodSelectors();
  readonly #slice = new TurnSlice();
  readonly #queue: WorkQueue;

  constructor(parts: DisruptionControllerParts) {
    const { clock, observeQueue, onError } = parts;
    this.#parts = parts;
    const work = (key: Key) => this.#sync(key);
    this.#queue = new WorkQueue({ name: "disruption", clock, observeQueue, onError, work });
  }

  start(): Disposable {
    const { store, budgets } = this.#parts;
    const running = new DisposableStack();
    running.use(this.#queue);
    running.use(followObjects(store, budgets.info.keyPrefix, (key) => this.#queue.add(key)));
    running.use(store.subscribe((events) => this.#receivePods(events)));
    return running;
  }

  #receivePods(events: readonly StoreEvent[]): void {
    const { pods } = this.#parts;
    for (const event of events) if (event.entry.key.startsWith(pods.info.keyPrefix)) this.#receivePod(event);
  }

  #receivePod(event: StoreEvent): void {
    const { budgets, pods } = this.#parts;
    const { type, entry } = event;
    const { namespace, name } = namesOf(pods, entry.key);
    const concerned = this.#selectors.concernedBy(event, namespace, countsDiffer);
    for (const budget of concerned) this.#queue.add(budgets.keyOf(namespace, budget));
    if (concerned.size === 0 || type === "DELETED") return;
    const covering = this.#selectors.matching(namespace, entry);
    if (covering.size > 1) this.#reportSeveral(namespace, name, covering);
  }

  #reportSeveral(namespace: string, name: string, budgets: ReadonlySet<string>): void {
    const { pods, record } = this.#parts;
    const pod = pods.current(namespace, name);
    const [chosen] = budgets;
    const subject = `Pod ${JSON.stringify(namespace)}/${JSON.stringify(name)}`;
    const message = `${subject} matches multiple PodDisruptionBudgets.  Chose ${JSON.stringify(chosen)} arbitrarily.`;
    if (pod !== undefined) record(pod, { type: "Warning", reason: "MultiplePodDisruptionBudgets", message });
  }

  async #sync(key: Key): Promise<void> {
    await this.#slice.pass();
    const { budgets, clock } = this.#parts;
    const { namespace, name } = namesOf(budgets, key);
    const budget = budgets.current(namespace, name) as PodDisruptionBudget | undefined;
    this.#selectors.set(namespace, name, budget && selectorOf(budget));
    if (budget === undefined) return;
    try {
      await this.#count(key, budget);
    } catch (error) {
      // These errors say nothing about the budget. The next attempt may succeed.
      const isTransient = error instanceof StatusError && error.code === 409;
      if (isTransient || error instanceof StoreUnavailableError) throw error;
      if (!(error instanceof ScaleError || error instanceof StatusError)) throw error;
      await this.#write(budget, failedStatus(budget, error.message, clock.nowMs()));
    }
  }

  async #count(key: Key, budget: PodDisruptionBudget): Promise<void> {
    const { clock, record } = this.#parts;
    const pods = await this.#podsOf(budget);
    if (pods.length === 0) record(budget, { type: "Normal", reason: "NoPods", message: "No matching pods found" });
    const expectation = await this.#expectation(budget, pods);
    const nowMs = clock.nowMs();
    const disruptions = disruptionsOf(budget, pods, nowMs);
    for (const name of disruptions.overdue) this.#reportOverdue(budget, name);
    const status = nextStatus(budget, expectation, pods, disruptions, nowMs);
    if (status !== undefined) await this.#write(budget, status);
    if (disruptions.nextMs !== undefined) this.#queue.addAfter(key, disruptions.nextMs - nowMs + 1);
  }

  async #podsOf(budget: PodDisruptionBudget): Promise<BudgetPod[]> {
    const { pods } = this.#parts;
    const selector = selectorOf(budget);
    if (selector === undefined) return [];
    const { namespace = "" } = budget.metadata;
    return selectedPods(namespace, selector, { pods, slice: this.#slice, read: budgetPodOf });
  }

  async #expectation(budget: PodDisruptionBudget, pods: readonly BudgetPod[]): Promise<Expectation> {
    const { scales, record } = this.#parts;
    if (!dependsOnScale(budget)) return expectationOf(budget, pods.length);
    const warn = (reason: string, message: string) => record(budget, { type: "Warning", reason, message });
    try {
      const { count, unmanaged } = await scales.expected(budget.metadata.namespace ?? "", pods);
      if (unmanaged.length > 0) warn("UnmanagedPods", unmanagedText(budget));
      return expectationOf(budget, count);
    } catch (error) {
      const message = thrownText(error);
      warn("CalculateExpectedPodCountFailed", `Failed to calculate the number of expected pods: ${message}`);
      throw error;
    }
  }

  #reportOverdue({ metadata: { namespace = "", name = "" } }: PodDisruptionBudget, podName: string): void {
    const { pods, record } = this.#parts;
    const pod = pods.current(namespace, podName);
    const message = `Pod was expected by PDB ${namespace}/${name} to be deleted but it wasn't`;
    if (pod !== undefined) record(pod, { type: "Warning", reason: "NotDeleted", message });
  }

  /** Writes the status unless the budget has changed. An eviction in between is counted first. */
  async #write(budget: PodDisruptionBudget, status: PodDisruptionBudgetStatus): Promise<void> {
    const { budgets, budgetStatus } = this.#parts;
    const { namespace = "", name = "" } = budget.metadata;
    const next = { ...budget, status } as unknown as KubeObject;
    const options = { strategy: budgetStatus, subresource: "status" };
    await budgets.update(namespace, name, () => next, controllerManagerContext, options);
  }
}

/** Returns the selector of the pods that a budget covers; undefined if it covers none. */
function selectorOf({ spec }: PodDisruptionBudget): LabelSelector | undefined {
  return spec?.selector === undefined ? undefined : labelSelectorOf(spec.selector);
}

function unmanagedText({ spec }: PodDisruptionBudget): string {
  return (
    `Pods selected by this PodDisruptionBudget (selector: ${selectorText(spec?.selector)}) were found to be unmanaged. ` +
    "As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. " +
    'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.'
  );
}
