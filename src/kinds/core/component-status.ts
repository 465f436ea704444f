import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type { Lease } from "../../api/types/coordination-v1.ts";
import type { ComponentStatus } from "../../api/types/core-v1.ts";
import type { Clock } from "../../process/clock.ts";
import type { ComputedObjects } from "../../registry/computed-objects.ts";
import { builtInKind, computed } from "../../registry/kind.ts";
import type { Registry } from "../../registry/registry.ts";
import type { Store } from "../../storage/store.ts";
import { lease } from "../coordination/lease.ts";

const leaseNamespace = "kube-system";

export const componentStatus = builtInKind("componentstatuses", {
  endpoint: computed(({ store, registry, clock }) => componentStatuses({ store, leases: registry(lease), clock })),
  table: { cells: componentStatusCells },
  descriptions: {
    "core/v1.ComponentStatus": {
      "": "Health of a part of the control plane. Deprecated.",
      conditions: "Findings about the component.",
    },
    "core/v1.ComponentCondition": {
      "": "One finding about a component.",
      type: "Healthy.",
      message: "The finding, for people.",
      error: "The error, if any.",
    },
  },
});

interface Health {
  readonly status: "True" | "False" | "Unknown";
  readonly message: string;
}

/**
 * The statuses of the store and of the two programs whose leader holds a Lease. Upstream asks those programs, but this
 * server does not know where they run.
 */
export function componentStatuses(parts: {
  readonly store: Pick<Store, "failure">;
  readonly leases: Pick<Registry, "current">;
  readonly clock: Pick<Clock, "nowMs">;
}): ComputedObjects {
  const { store, leases, clock } = parts;
  return {
    list: () => [
      statusObject("controller-manager", leaderHealth(leases, "kube-controller-manager", clock.nowMs())),
      statusObject("etcd-0", storeHealth(store)),
      statusObject("scheduler", leaderHealth(leases, "kube-scheduler", clock.nowMs())),
    ],
  };
}

function statusObject(name: string, { status, message }: Health): KubeObject {
  const conditions = [{ type: "Healthy", status, message }];
  return { kind: "ComponentStatus", apiVersion: "v1", metadata: { name }, conditions };
}

function storeHealth({ failure }: Pick<Store, "failure">): Health {
  return failure === undefined
    ? { status: "True", message: "ok" }
    : { status: "False", message: "the store takes no more writes" };
}

function leaderHealth(leases: Pick<Registry, "current">, name: string, nowMs: number): Health {
  const { renewTime = "", leaseDurationSeconds = 0 } =
    (leases.current(leaseNamespace, name) as Lease | undefined)?.spec ?? {};
  const renewedMs = Date.parse(renewTime);
  if (Number.isNaN(renewedMs)) return { status: "Unknown", message: "nobody has ever led" };
  return renewedMs + 1_000 * leaseDurationSeconds >= nowMs
    ? { status: "True", message: "ok" }
    : { status: "False", message: "nobody leads: the lease has not been renewed" };
}

function componentStatusCells({ conditions = [] }: ComponentStatus): Cells {
  const healthy = conditions.find(({ type }) => type === "Healthy");
  const texts: Readonly<Record<string, string>> = { True: "Healthy", False: "Unhealthy" };
  return {
    Status: texts[healthy?.status ?? ""] ?? "Unknown",
    Message: healthy?.message ?? "",
    Error: healthy?.error ?? "",
  };
}
