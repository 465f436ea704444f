import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { ResourceQuota, ResourceQuotaSpec, ResourceQuotaStatus } from "../../api/types/core-v1.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { statusRules } from "../spec-strategy.ts";
import { roundResourceList } from "./resource-list.ts";
import {
  validateResourceQuota,
  validateResourceQuotaStatus,
  validateResourceQuotaUpdate,
} from "./validation/resource-quota.ts";

const resourceQuotaStrategy: Strategy<ResourceQuota> = {
  ...defaultStrategy,
  metaRules: "update",
  coversSchema: true,
  returnsDeletedObject: true,
  resetFields: ["status"],
  validateInTurns: validateResourceQuota,
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
function resourceQuotaCells({ status: { hard = {}, used = {} } = {} }: ResourceQuota): Cells {
  const shown = (limits: boolean) =>
    Object.keys(hard)
      .filter((name) => name.startsWith("limits.") === limits)
      .sort()
      .map((name) => `${name}: ${used[name] ?? 0}/${hard[name]}`)
      .join(", ");
  return { Request: shown(false), Limit: shown(true) };
}

function roundQuota(amounts: ResourceQuotaSpec | ResourceQuotaStatus): void {
  roundResourceList(amounts.hard);
  if ("used" in amounts) roundResourceList(amounts.used);
}
