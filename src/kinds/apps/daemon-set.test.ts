import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, created, refusal, updated, updateRefusal } from "../testing.ts";

const path = "apps/v1/daemonsets";
const minimal: JsonObject = {
  spec: {
    selector: { matchLabels: { app: "a" } },
    template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i" }] } },
  },
};
const rich: JsonObject = {
  spec: {
    ...(minimal["spec"] as JsonObject),
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: "10%" } },
    minReadySeconds: 1,
    revisionHistoryLimit: 1,
  },
};
const negative = "must be greater than or equal to 0";

test.each([
  ["little", minimal],
  ["everything", rich],
])("a DaemonSet with %s is accepted", async (_, set) => {
  expect(await refusal(path, set)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, ...causes: string[]]>([
  ["spec.selector", {}, "spec.selector: Invalid value: {}: empty selector is invalid for daemonset"],
  [
    "spec.selector",
    undefined,
    'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`',
  ],
  ["spec.minReadySeconds", -1, `spec.minReadySeconds: Invalid value: -1: ${negative}`],
  ["spec.revisionHistoryLimit", -1, `spec.revisionHistoryLimit: Invalid value: -1: ${negative}`],
  [
    "spec.updateStrategy.type",
    "Magic",
    'spec.updateStrategy: Unsupported value: {"Type":"Magic","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":"10%"}}: supported values: "RollingUpdate", "OnDelete"',
  ],
  [
    "spec.updateStrategy.rollingUpdate.maxUnavailable",
    1,
    'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "10%": may not be set when maxUnavailable is non-zero',
  ],
  [
    "spec.updateStrategy.rollingUpdate.maxSurge",
    0,
    "spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0",
  ],
  [
    "spec.template.spec.restartPolicy",
    "Never",
    'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
  ],
  [
    "spec.template.spec.activeDeadlineSeconds",
    1,
    "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported",
  ],
])("a DaemonSet with %s = %j is refused", async (field, value, ...causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test("the selector cannot change", async () => {
  const before = changed(minimal, "spec.template.metadata.labels.b", "c");
  expect(await updateRefusal(path, before, changed(before, "spec.selector.matchLabels", { b: "c" }))).toEqual([
    'spec.selector: Invalid value: {"matchLabels":{"b":"c"}}: field is immutable',
  ]);
});

test("generations of the template are counted in an annotation", async () => {
  const annotation = "deprecated.daemonset.template.generation";
  const generations = async (after: JsonObject) => {
    const { metadata } = await updated(path, minimal, after);
    return [metadata.generation, metadata.annotations?.[annotation]];
  };
  expect((await created(path, minimal)).metadata.annotations).toEqual({ [annotation]: "1" });
  expect(await generations(minimal)).toEqual([1, "1"]);
  expect(await generations(rich)).toEqual([2, "1"]);
  expect(await generations(changed(minimal, "spec.template.spec.hostNetwork", true))).toEqual([2, "2"]);
});

test.each<[status: JsonObject, ...causes: string[]]>([
  [{ numberReady: 1, desiredNumberScheduled: 1, currentNumberScheduled: 1, numberMisscheduled: 0 }],
  [{ numberReady: -1 }, `status.numberReady: Invalid value: -1: ${negative}`],
  [{ numberUnavailable: -1 }, `status.numberUnavailable: Invalid value: -1: ${negative}`],
])("status %j gets the expected answer", async (status, ...causes) => {
  expect(await updateRefusal(path, minimal, { ...minimal, status }, "status")).toEqual(causes);
});
