import { formatTime } from "../../api/time.ts";
import { isJsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateDeviceTaintRule, validateDeviceTaintRuleStatus } from "../validation/device-taint-rule.ts";
import { fieldsOf } from "../validation/key-values.ts";

export const deviceTaintRuleStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  generationFields: ["spec"],
  resetFields: ["status"],
  prepareForCreate: (rule) => dateTaint(rule, rule.metadata.creationTimestamp ?? ""),
  prepareForUpdate: (rule, _old, nowMs) => dateTaint(rule, formatTime(nowMs)),
  validate: validateDeviceTaintRule,
};

export const deviceTaintRuleStatusStrategy: Strategy = {
  ...statusStrategy(deviceTaintRuleStrategy),
  validate: validateDeviceTaintRuleStatus,
};

function dateTaint(rule: KubeObject, now: string): void {
  const taint = fieldsOf(rule["spec"])["taint"];
  if (isJsonObject(taint)) taint["timeAdded"] ??= now;
}
