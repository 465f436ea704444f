import { formatTime } from "../../api/time.ts";
import { isJsonObject, type JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateDeviceTaintRule, validateDeviceTaintRuleStatus } from "./validation/device-taint-rule.ts";
import { fieldsOf } from "../../api/validation/key-values.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import { ageOf } from "../../api/codec/table/human-duration.ts";
import { structIn, textIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";

const deviceTaintRuleStrategy: Strategy = {
  ...defaultStrategy,
  metaRules: "update",
  coversSchema: true,
  generationFields: ["spec"],
  resetFields: ["status"],
  prepareForCreate: (rule) => dateTaint(rule, rule.metadata.creationTimestamp ?? ""),
  prepareForUpdate: (rule, _old, nowMs) => dateTaint(rule, formatTime(nowMs)),
  validate: validateDeviceTaintRule,
};

const deviceTaintRuleStatusStrategy: Strategy = {
  ...statusStrategy(deviceTaintRuleStrategy, { keepsMetadata: true }),
  validate: validateDeviceTaintRuleStatus,
};

export const deviceTaintRule = builtInKind("devicetaintrules.resource.k8s.io", {
  endpoint: stored(deviceTaintRuleStrategy),
  table: { cells: deviceTaintRuleCells },
  subresources: {
    status: subresource(deviceTaintRuleStatusStrategy),
  },
});

function dateTaint(rule: KubeObject, now: string): void {
  const taint = fieldsOf(rule["spec"])["taint"];
  if (isJsonObject(taint)) taint["timeAdded"] ??= now;
}

function deviceTaintRuleCells(rule: JsonObject, nowMs: number): Cells {
  const taint = structIn(structIn(rule, "spec"), "taint");
  const added = textIn(taint, "timeAdded");
  return {
    Key: textIn(taint, "key"),
    Value: textIn(taint, "value"),
    Effect: textIn(taint, "effect"),
    TimeAdded: added === "" ? "" : ageOf(added, nowMs),
  };
}
