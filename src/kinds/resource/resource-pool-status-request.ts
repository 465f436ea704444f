import { ageOf } from "../../api/codec/table/human-duration.ts";
import { numberOf, objectOf, objectsOf, textOf } from "../../api/json-reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
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
function resourcePoolStatusRequestCells(request: JsonObject, nowMs: number): Cells {
  const status = objectOf(request["status"]);
  const pools = objectsOf(status["pools"]);
  const poolCount = numberOf(status["poolCount"]);
  const end = objectsOf(status["conditions"]).find(isEnd);
  const state = end === undefined ? "Pending" : textOf(end["type"]);
  const isCounted = request["status"] !== undefined && state !== "Failed";
  const sum = (field: string) =>
    isCounted ? String(pools.reduce((total, pool) => total + numberOf(pool[field]), 0)) : "-";
  return {
    Driver: textOf(objectOf(request["spec"])["driver"]),
    Total: sum("totalDevices"),
    Available: sum("availableDevices"),
    Allocated: sum("allocatedDevices"),
    Unavailable: sum("unavailableDevices"),
    Errors: isCounted ? String(pools.filter((pool) => pool["validationError"] !== undefined).length) : "-",
    Pools: poolCount,
    Status: state === "Complete" && poolCount > pools.length ? `Complete (${pools.length}/${poolCount} pools)` : state,
    Completed: end === undefined || state !== "Complete" ? "<none>" : ageOf(textOf(end["lastTransitionTime"]), nowMs),
  };
}

function isEnd(condition: JsonObject): boolean {
  return textOf(condition["status"]) === "True" && /^(Complete|Failed)$/.test(textOf(condition["type"]));
}
