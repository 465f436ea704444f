import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { ResourceQuota } from "../../api/types/core-v1.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validateResourceQuota,
  validateResourceQuotaStatus,
  validateResourceQuotaUpdate,
} from "./validation/resource-quota.ts";
import { statusRules } from "../spec-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import { objectOf } from "../../api/json-reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import { roundQuota } from "./defaults/resource-list.ts";

const resourceQuotaStrategy: Strategy<ResourceQuota> = {
  ...defaultStrategy,
  metaRules: "update",
  coversSchema: true,
  returnsDeletedObject: true,
  resetFields: ["status"],
  validate: validateResourceQuota,
  validateUpdate: validateResourceQuotaUpdate,
};

const resourceQuotaStatusStrategy = statusRules(resourceQuotaStrategy, validateResourceQuotaStatus);

export const resourceQuota = builtInKind("resourcequotas", {
  endpoint: stored(resourceQuotaStrategy),
  table: { cells: resourceQuotaCells },
  defaults: {
    "core/v1.ResourceQuotaSpec": roundQuota,
    "core/v1.ResourceQuotaStatus": roundQuota,
  },
  subresources: {
    status: subresource(resourceQuotaStatusStrategy),
  },
  descriptions: {
    "core/v1.ResourceQuota": { "": "Limits for all objects of a namespace together." },
    "core/v1.ResourceQuotaSpec": {
      "": "The bounds.",
      hard: "Bound of each resource.",
      scopes: "Scopes of the objects that count.",
      scopeSelector: "Expressions that select the objects that count.",
    },
    "core/v1.ResourceQuotaStatus": {
      "": "Limits and use.",
      hard: "Bounds that are in effect.",
      used: "Amount of each resource in use.",
    },
  },
});

/** Used and allowed amounts, requests and limits apart. */
function resourceQuotaCells(quota: JsonObject): Cells {
  const status = objectOf(quota["status"]);
  const [hard, used] = [objectOf(status["hard"]), objectOf(status["used"])];
  const shown = (limits: boolean) =>
    Object.keys(hard)
      .filter((name) => name.startsWith("limits.") === limits)
      .sort()
      .map((name) => `${name}: ${String(used[name] ?? 0)}/${String(hard[name])}`)
      .join(", ");
  return { Request: shown(false), Limit: shown(true) };
}
