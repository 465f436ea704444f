import { decodeEntry } from "../../api/codec/stored-object.ts";
import { hasCondition } from "../../api/codec/table/cell-text.ts";
import { type Status, StatusError, status, successStatus } from "../../api/status.ts";
import { formatTime } from "../../api/time.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { Eviction, PodDisruptionBudget } from "../../api/types/policy-v1.ts";
import type { Clock } from "../../process/clock.ts";
import { type Action, type ActionRequest, alreadyAdmitted } from "../../registry/action.ts";
import { deleteOptionsOf } from "../../registry/delete-options.ts";
import { checkDeletePreconditions } from "../../registry/deletion.ts";
import type { Registry } from "../../registry/registry.ts";
import type { DeleteOptions, Strategy } from "../../registry/strategy.ts";
import { setPodCondition } from "../core/pod-condition.ts";
import { budgetNotObserved, covers, disrupted, sparesUnready } from "./disruption-budget.ts";

export interface EvictionParts {
  readonly pods: Registry;
  readonly podStatus: Strategy;
  readonly budgets: Registry;
  readonly budgetStatus: Strategy;
  readonly clock: Clock;
}

/** Attempts on a pod that changes between them, until the eviction fails. */
const triesMax = 20;
const severalBudgets =
  "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";

/** Serves `pods/eviction`: deletes a pod, unless a disruption budget does not allow it. */
export function podEviction(parts: EvictionParts): Action {
  return {
    aliases: ["policy/v1beta1"],
    run: (request, body: Eviction) => new EvictionRun(parts, request, body).run(),
  };
}

class EvictionRun {
  readonly #parts: EvictionParts;
  readonly #request: ActionRequest;
  readonly #options: DeleteOptions;

  constructor(parts: EvictionParts, request: ActionRequest, body: Eviction) {
    if ((body.metadata.name ?? "") !== request.name) {
      throw status.badRequest("name in URL does not match name in Eviction object");
    }
    this.#parts = parts;
    this.#options = optionsOf(body, request.dryRun);
    this.#request = { ...request, dryRun: this.#options.dryRun };
  }

  async run(): Promise<Status> {
    for (let tries = 1; ; tries++) {
      const pod = this.#pod();
      const budget = isBeyondBudgets(pod) ? undefined : this.#budgetOf(pod);
      if (budget === "several") return { ...failure, message: severalBudgets };
      const unguarded = isBeyondBudgets(pod) || (budget !== undefined && !isReady(pod) && sparesUnready(budget));
      if (budget !== undefined && !unguarded) await this.#disrupt(budget);
      try {
        await this.#delete(unguarded ? this.#ifStill(pod) : this.#options);
        return successStatus();
      } catch (error) {
        if (!unguarded || !this.#changedMeanwhile(error)) throw error;
        if (budget !== undefined) throw budgetNotObserved(budget.metadata.name ?? "");
        if (tries === triesMax) throw error;
      }
    }
  }

  #pod(): Pod {
    const { pods } = this.#parts;
    const { namespace, name } = this.#request;
    const pod = pods.current(namespace, name);
    if (pod === undefined) throw status.notFound(pods.ref(name));
    return pod;
  }

  #budgetOf({ metadata }: Pod): PodDisruptionBudget | "several" | undefined {
    const { labels = {} } = metadata;
    if (Object.keys(labels).length === 0) return undefined;
    const found = this.#budgets().filter((budget) => covers(budget, labels));
    return found.length > 1 ? "several" : found[0];
  }

  #budgets(): PodDisruptionBudget[] {
    const { budgets } = this.#parts;
    const page = budgets.cacher.list({ prefix: budgets.keyOf(this.#request.namespace, "") });
    if (page instanceof Promise) throw new Error("the newest state is in memory");
    return page.entries.map((entry) => decodeEntry(entry, budgets.info));
  }

  /** Counts the disruption before the pod is deleted, so that two evictions never use the same one. */
  async #disrupt({ metadata }: PodDisruptionBudget): Promise<void> {
    const { budgets, budgetStatus, clock } = this.#parts;
    const { namespace, name } = this.#request;
    const take = (budget: PodDisruptionBudget) => disrupted(budget, name, clock.nowMs());
    await budgets.update(namespace, metadata.name ?? "", take, this.#request, {
      strategy: budgetStatus,
      subresource: "status",
      reapplies: true,
    });
  }

  async #delete(options: DeleteOptions): Promise<void> {
    const { pods } = this.#parts;
    const { namespace, name } = this.#request;
    if (options.dryRun) {
      await pods.delete(namespace, name, options, this.#request, alreadyAdmitted);
      return;
    }
    const { object } = await this.#markAsTarget(options);
    const { preconditions } = options;
    const resourceVersion = preconditions.resourceVersion === undefined ? undefined : object.metadata.resourceVersion;
    await pods.delete(
      namespace,
      name,
      { ...options, preconditions: { ...preconditions, resourceVersion } },
      this.#request,
      alreadyAdmitted,
    );
  }

  /** Enters the reason in the pod, for clients that decide whether its end counts as a failure. */
  #markAsTarget(options: DeleteOptions): ReturnType<Registry["update"]> {
    const { pods, podStatus, clock } = this.#parts;
    const { namespace, name } = this.#request;
    const mark = (pod: Pod) => {
      checkDeletePreconditions(pod, options, pods.info);
      setPodCondition(pod, disruptionTarget, formatTime(clock.nowMs()));
      return pod;
    };
    return pods.update(namespace, name, mark, this.#request, {
      strategy: podStatus,
      subresource: "status",
      reapplies: true,
      admission: alreadyAdmitted,
    });
  }

  /**
   * Returns options that delete the pod only in the observed state, because a pod that has become ready counts for its
   * budget.
   */
  #ifStill({ metadata }: Pod): DeleteOptions {
    const { preconditions } = this.#options;
    const { resourceVersion = metadata.resourceVersion } = preconditions;
    return { ...this.#options, preconditions: { ...preconditions, resourceVersion } };
  }

  /** Reports whether our own precondition has failed, and not one of the client's. */
  #changedMeanwhile(error: unknown): boolean {
    return (
      error instanceof StatusError &&
      error.reason === "Conflict" &&
      this.#options.preconditions.resourceVersion === undefined
    );
  }
}

const failure: Status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code: 500 };

const disruptionTarget = {
  type: "DisruptionTarget",
  status: "True",
  reason: "EvictionByEvictionAPI",
  message: "Eviction API: evicting",
} as const;

function isBeyondBudgets({ metadata, status: state }: Pod): boolean {
  const phase = state?.phase ?? "";
  return metadata.deletionTimestamp !== undefined || ["Pending", "Succeeded", "Failed"].includes(phase);
}

function isReady(pod: Pod): boolean {
  return hasCondition(pod.status ?? {}, "Ready");
}

/** Returns the options of the delete. Query and body may both ask for a dry run. @throws StatusError 500 when they differ */
function optionsOf({ deleteOptions = {} }: Eviction, dryRun: boolean): DeleteOptions {
  const { dryRun: asked } = deleteOptions;
  const texts = Array.isArray(asked) ? asked.map((text) => (text === null ? "" : String(text))) : [];
  if (dryRun && texts.length > 0 && (texts.length > 1 || texts[0] !== "All")) {
    throw status.unconverted(`Non-matching dry-run options in request and content: [All] and [${texts.join(" ")}]`);
  }
  const options = deleteOptionsOf(deleteOptions);
  return { ...options, dryRun: dryRun || options.dryRun };
}
