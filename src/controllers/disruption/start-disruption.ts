import type { Client } from "../../client/client.ts";
import { pod } from "../../kinds/core/pod.ts";
import { podDisruptionBudget } from "../../kinds/policy/pod-disruption-budget.ts";
import type { Clock } from "../../process/clock.ts";
import type { Catalog } from "../../registry/catalog.ts";
import { strategyOf } from "../../registry/kind.ts";
import type { Registries } from "../../registry/registries.ts";
import type { Store } from "../../storage/store.ts";
import { EventRecorder } from "../events/event-recorder.ts";
import { recordingWith } from "../events/record-event.ts";
import type { QueueSource } from "../work-queue.ts";
import { DisruptionController } from "./disruption-controller.ts";
import { PodScales } from "./pod-scales.ts";
import { startStaleTargets } from "./stale-targets.ts";

export interface DisruptionParts extends QueueSource {
  readonly registries: Registries;
  readonly catalog: Catalog;
  readonly client: Pick<Client, "get">;
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Starts the controllers of disruption budgets and their pods. */
export function startDisruption(parts: DisruptionParts): Disposable {
  const { registries } = parts;
  const running = new DisposableStack();
  const events = registries.builtIn({ group: "", resource: "events" });
  const recorder = running.use(new EventRecorder({ ...parts, events, component: "controllermanager" }));
  const pods = registries.builtIn({ group: "", resource: "pods" });
  const controller = new DisruptionController({
    ...parts,
    budgets: registries.builtIn({ group: "policy", resource: "poddisruptionbudgets" }),
    budgetStatus: strategyOf(podDisruptionBudget, "status"),
    pods,
    scales: new PodScales(parts),
    record: recordingWith(recorder),
  });
  running.use(controller.start());
  running.use(startStaleTargets({ ...parts, pods, podStatus: strategyOf(pod, "status") }));
  return running;
}
