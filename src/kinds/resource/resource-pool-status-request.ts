import type { RowTime } from "../../api/codec/table/row-time.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { Condition } from "../../api/types/meta-v1.ts";
import type * as resourceV1alpha3 from "../../api/types/resource-v1alpha3.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validatePoolStatus,
  validatePoolStatusRequest,
  validatePoolStatusRequestUpdate,
} from "./validation/resource-pool-status-request.ts";

const resourcePoolStatusRequestStrategy: Strategy<resourceV1alpha3.ResourcePoolStatusRequest> = {
  ...defaultStrategy,
  metaRules: "update",
  coversSchema: true,
  returnsDeletedObject: true,
  resetFields: ["status"],
  validate: validatePoolStatusRequest,
  validateUpdate: validatePoolStatusRequestUpdate,
};

const resourcePoolStatusRequestStatusStrategy: Strategy<resourceV1alpha3.ResourcePoolStatusRequest> = {
  ...statusStrategy(resourcePoolStatusRequestStrategy, { keepsMetadata: true }),
  validate: validatePoolStatus,
};

export const resourcePoolStatusRequest = builtInKind("resourcepoolstatusrequests.resource.k8s.io", {
  endpoint: stored(resourcePoolStatusRequestStrategy),
  table: { cells: resourcePoolStatusRequestCells },
  subresources: {
    status: subresource(resourcePoolStatusRequestStatusStrategy),
  },
  descriptions: {
    "resource/v1alpha3.ResourcePoolStatusRequest": { "": "Asks how many devices of a driver are free." },
    "resource/v1alpha3.ResourcePoolStatusRequestSpec": {
      "": "The question.",
      driver: "The driver.",
      poolName: "The pool; without it, all.",
      limit: "Largest number of pools in the answer.",
    },
    "resource/v1alpha3.ResourcePoolStatusRequestStatus": {
      "": "The answer.",
      poolCount: "Number of pools that match.",
      pools: "The pools.",
    },
  },
});

/** Devices are counted over all pools of the answer, unless there is none or the request has failed. */
function resourcePoolStatusRequestCells(
  { spec, status }: resourceV1alpha3.ResourcePoolStatusRequest,
  time: RowTime,
): Cells {
  const { pools = [], poolCount = 0, conditions = [] } = status ?? {};
  const end = conditions.find(isEnd);
  const state = end?.type ?? "Pending";
  const isCounted = status !== undefined && state !== "Failed";
  const sum = (field: DeviceCount) =>
    isCounted ? String(pools.reduce((total, pool) => total + (pool[field] ?? 0), 0)) : "-";
  return {
    Driver: spec.driver,
    Total: sum("totalDevices"),
    Available: sum("availableDevices"),
    Allocated: sum("allocatedDevices"),
    Unavailable: sum("unavailableDevices"),
    Errors: isCounted ? String(pools.filter(({ validationError }) => validationError !== undefined).length) : "-",
    Pools: poolCount,
    Status: state === "Complete" && poolCount > pools.length ? `Complete (${pools.length}/${poolCount} pools)` : state,
    Completed: end === undefined || state !== "Complete" ? "<none>" : time.ageOf(end.lastTransitionTime),
  };
}

type DeviceCount = "totalDevices" | "availableDevices" | "allocatedDevices" | "unavailableDevices";

function isEnd({ type, status }: Condition): boolean {
  return status === "True" && (type === "Complete" || type === "Failed");
}
