import type { Registry } from "prom-client";
import type { RequestKind } from "../../http/filters/max-in-flight.ts";
import { seatsHeldBy } from "../../http/flow-control/fair-queues.ts";
import type { FlowControl } from "../../http/flow-control/flow-control.ts";
import type { PriorityLevel } from "../../http/flow-control/priority-level.ts";
import { widestOf } from "../../http/flow-control/seats.ts";
import { CollectedFamily } from "./bound-metric.ts";
import type { Labels, Sample } from "./exposition.ts";

export interface FlowGaugeParts {
  readonly control: FlowControl;
  /** The number of waiting requests of each kind. */
  readonly waiting: Readonly<Record<RequestKind, number>>;
}

const prefix = "apiserver_flowcontrol";

/** Registers the values of priority and fairness that are computed from its levels at each scrape. */
export function exposeFlowGauges(registry: Registry, { control, waiting }: FlowGaugeParts): void {
  const gauge = (name: string, help: string, collect: () => Iterable<Sample>) =>
    new CollectedFamily(name, help, "gauge", collect).register(registry);
  const ofLevels = (name: string, help: string, read: (level: PriorityLevel) => number) =>
    gauge(`${prefix}_${name}`, help, () =>
      control.levels.map((level): Sample => [{ priority_level: level.name }, read(level)]),
    );
  const ofSchemas = (name: string, help: string, read: (counts: SchemaCounts) => number) =>
    gauge(`${prefix}_${name}`, help, () =>
      Array.from(schemaCounts(control), ([labels, counts]): Sample => [labels, read(counts)]),
    );

  ofLevels("nominal_limit_seats", "Nominal number of seats of a level.", ({ bounds }) => bounds.nominal);
  ofLevels("lower_limit_seats", "Seats that a level never lends.", ({ bounds }) => bounds.min);
  ofLevels(
    "upper_limit_seats",
    "Maximum number of seats of a level, borrowed ones included.",
    ({ bounds }) => bounds.max,
  );
  ofLevels("current_limit_seats", "Current number of seats of a level.", ({ allocation }) => allocation.current);
  ofLevels(
    "target_seats",
    "Number of seats that the recent demand of a level justifies.",
    ({ allocation }) => allocation.target,
  );
  ofLevels(
    "demand_seats_high_watermark",
    "Highest demand in the last adjustment period.",
    ({ demand }) => demand.highWatermark,
  );
  ofLevels("demand_seats_average", "Average demand in the last adjustment period.", ({ demand }) => demand.average);
  ofLevels(
    "demand_seats_stdev",
    "Standard deviation of the demand in the last adjustment period.",
    ({ demand }) => demand.deviation,
  );
  ofLevels("demand_seats_smoothed", "Smoothed demand.", ({ demand }) => demand.smoothed);
  ofLevels("current_r", "Virtual time of the queues in seconds.", ({ queues }) => queues.virtualMs / 1_000);
  gauge(`${prefix}_seat_fair_frac`, "Fraction of its target that each level received.", () => [
    [{}, control.fairFraction],
  ]);
  ofSchemas("current_inqueue_requests", "Waiting requests.", ({ waitingRequests }) => waitingRequests);
  ofSchemas("current_inqueue_seats", "Seats that waiting requests need.", ({ waitingSeats }) => waitingSeats);
  ofSchemas("current_executing_requests", "Running requests.", ({ runningRequests }) => runningRequests);
  ofSchemas("current_executing_seats", "Seats in use.", ({ heldSeats }) => heldSeats);
  gauge("apiserver_current_inqueue_requests", "Waiting requests, by kind.", () => [
    [{ request_kind: "mutating" }, waiting.mutating],
    [{ request_kind: "readOnly" }, waiting.readOnly],
  ]);
}

/** The requests of one schema at one level, by state. */
interface SchemaCounts {
  waitingRequests: number;
  waitingSeats: number;
  runningRequests: number;
  heldSeats: number;
}

/** Counts the requests of each schema in use, and of former schemas that still have requests. */
function schemaCounts({ schemas, levels }: FlowControl): Iterable<readonly [Labels, SchemaCounts]> {
  const found = new Map<string, readonly [Labels, SchemaCounts]>();
  const countsOf = (schema: string, level: string): SchemaCounts => {
    const key = `${schema}\0${level}`;
    let entry = found.get(key);
    if (entry === undefined) {
      const counts = { waitingRequests: 0, waitingSeats: 0, runningRequests: 0, heldSeats: 0 };
      entry = [{ flow_schema: schema, priority_level: level }, counts];
      found.set(key, entry);
    }
    return entry[1];
  };
  for (const { metadata, spec } of schemas) countsOf(metadata.name ?? "", spec?.priorityLevelConfiguration.name ?? "");
  for (const level of levels) {
    for (const { flow, ticket } of level.requests()) {
      const counts = countsOf(flow.schema.metadata.name ?? "", level.name);
      counts.heldSeats += seatsHeldBy(ticket);
      if (ticket.state === "running") counts.runningRequests++;
      if (ticket.state !== "waiting") continue;
      counts.waitingRequests++;
      counts.waitingSeats += widestOf(ticket.seats);
    }
  }
  return found.values();
}
