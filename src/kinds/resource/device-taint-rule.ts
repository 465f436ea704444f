import type { RowTime } from "../../api/codec/table/row-time.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import { formatTime } from "../../api/time.ts";
import type * as resourceV1beta2 from "../../api/types/resource-v1beta2.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateDeviceTaintRule, validateDeviceTaintRuleStatus } from "./validation/device-taint-rule.ts";

const deviceTaintRuleStrategy: Strategy<resourceV1beta2.DeviceTaintRule> = {
  ...defaultStrategy,
  metaRules: "update",
  coversSchema: true,
  returnsDeletedObject: true,
  generationFields: ["spec"],
  resetFields: ["status"],
  prepareForCreate: (rule) => dateTaint(rule, rule.metadata.creationTimestamp ?? ""),
  prepareForUpdate: (rule, _old, nowMs) => dateTaint(rule, formatTime(nowMs)),
  validate: validateDeviceTaintRule,
};

const deviceTaintRuleStatusStrategy: Strategy<resourceV1beta2.DeviceTaintRule> = {
  ...statusStrategy(deviceTaintRuleStrategy, { keepsMetadata: true }),
  validate: validateDeviceTaintRuleStatus,
};

export const deviceTaintRule = builtInKind("devicetaintrules.resource.k8s.io", {
  endpoint: stored(deviceTaintRuleStrategy),
  table: { cells: deviceTaintRuleCells },
  subresources: {
    status: subresource(deviceTaintRuleStatusStrategy),
  },
  descriptions: {
    "resource/v1beta2.DeviceTaintRule": { "": "Taints devices, whoever publishes them." },
    "resource/v1beta2.DeviceTaintRuleSpec": {
      "": "Devices and taint.",
      deviceSelector: "The devices; without it, none.",
      taint: "The taint.",
    },
    "resource/v1beta2.DeviceTaintRuleStatus": { "": "Effects of the rule." },
  },
});

function dateTaint({ spec }: resourceV1beta2.DeviceTaintRule, now: string): void {
  if (spec.taint !== undefined) spec.taint.timeAdded ??= now;
}

function deviceTaintRuleCells({ spec: { taint } }: resourceV1beta2.DeviceTaintRule, time: RowTime): Cells {
  return {
    Key: taint?.key ?? "",
    Value: taint?.value ?? "",
    Effect: taint?.effect ?? "",
    TimeAdded: taint?.timeAdded === undefined ? "" : time.ageOf(taint.timeAdded),
  };
}
