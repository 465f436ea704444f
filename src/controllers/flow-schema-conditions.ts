import type { Key } from "../api/entry.ts";
import type { JsonObject } from "../api/json.ts";
import { formatTime } from "../api/time.ts";
import type * as flowcontrolV1 from "../api/types/flowcontrol-v1.ts";
import { mandatorySpec, priorityLevels } from "../kinds/flowcontrol/flow-control-objects.ts";
import { flowSchema } from "../kinds/flowcontrol/flow-schema.ts";
import type { Clock } from "../process/clock.ts";
import { strategyOf } from "../registry/kind.ts";
import type { Registry } from "../registry/registry.ts";
import { applyAsServer } from "../registry/server-apply.ts";
import type { Store } from "../storage/store.ts";
import { followObjects } from "./follow-objects.ts";
import { type QueueSource, WorkQueue } from "./work-queue.ts";

/** The field manager that clients know. */
const manager = "api-priority-and-fairness-config-consumer-v1";

export interface FlowSchemaConditionsParts extends QueueSource {
  readonly levels: Registry;
  readonly schemas: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

type Condition = flowcontrolV1.FlowSchemaCondition;

/** Records in the status of each FlowSchema whether its priority level exists. */
export class FlowSchemaConditions {
  readonly #parts: FlowSchemaConditionsParts;
  readonly #queue: WorkQueue;

  constructor(parts: FlowSchemaConditionsParts) {
    const { clock, observeQueue, onError } = parts;
    this.#parts = parts;
    this.#queue = new WorkQueue({
      name: "priority_and_fairness_config_queue",
      clock,
      observeQueue,
      onError,
      work: (key) => this.report(key),
    });
  }

  start(): Disposable {
    const { store, schemas, levels } = this.#parts;
    const running = new DisposableStack();
    running.use(this.#queue);
    running.use(followObjects(store, schemas.info.keyPrefix, (key) => this.#queue.add(key)));
    running.use(followObjects(store, levels.info.keyPrefix, (_, type) => this.#considerAll(type)));
    return running;
  }

  /** Updates the condition of one schema. */
  async report(key: Key): Promise<void> {
    const { schemas, clock } = this.#parts;
    const name = key.slice(schemas.info.keyPrefix.length);
    const schema = schemas.current("", name) as flowcontrolV1.FlowSchema | undefined;
    if (schema === undefined) return;
    const condition = this.#conditionOf(schema);
    if ((schema.status?.conditions ?? []).some((known) => isSame(known, condition))) return;
    const document = {
      apiVersion: schema.apiVersion,
      kind: schema.kind,
      metadata: { name },
      status: { conditions: [{ ...condition, lastTransitionTime: formatTime(clock.nowMs()) }] },
    };
    const status = { name: "status", strategy: strategyOf(flowSchema, "status") };
    const apply = { registry: schemas, clock, manager, subresource: status };
    await applyAsServer(apply, name, document as unknown as JsonObject);
  }

  /** Queues all schemas when a level comes or goes. Other changes of a level do not matter. */
  #considerAll(type: string): void {
    if (type === "MODIFIED") return;
    for (const { key } of this.#parts.schemas.cacher.entries()) this.#queue.add(key);
  }

  #conditionOf({ spec }: flowcontrolV1.FlowSchema): Condition {
    const name = spec?.priorityLevelConfiguration.name ?? "";
    // The mandatory levels are in force even if they are not stored.
    const exists =
      mandatorySpec(priorityLevels, name) !== undefined || this.#parts.levels.current("", name) !== undefined;
    const reference = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(name)}`;
    return exists
      ? { type: "Dangling", status: "False", reason: "Found", message: `${reference} and it exists` }
      : { type: "Dangling", status: "True", reason: "NotFound", message: `${reference} but there is no such object` };
  }
}

function isSame(known: Condition, wanted: Condition): boolean {
  const { type, status, reason, message } = wanted;
  return known.type === type && known.status === status && known.reason === reason && known.message === message;
}
