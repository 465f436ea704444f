import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, created, refusal, updated, updateRefusal } from "../testing.ts";

const path = "autoscaling/v2/horizontalpodautoscalers";
const scaleTargetRef: JsonObject = { apiVersion: "apps/v1", kind: "Deployment", name: "a" };
const minimal: JsonObject = { spec: { scaleTargetRef, maxReplicas: 1 } };
const metric: JsonObject = { name: "requests", selector: { matchLabels: { a: "b" } } };
const rich: JsonObject = {
  spec: {
    scaleTargetRef,
    minReplicas: 1,
    maxReplicas: 10,
    metrics: [
      { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } },
      {
        type: "ContainerResource",
        containerResource: { name: "memory", container: "c", target: { type: "AverageValue", averageValue: "1Gi" } },
      },
      { type: "Pods", pods: { metric, target: { type: "AverageValue", averageValue: "10" } } },
      { type: "Object", object: { metric, describedObject: scaleTargetRef, target: { type: "Value", value: "10k" } } },
      { type: "External", external: { metric, target: { type: "AverageValue", averageValue: "30" } } },
    ],
    behavior: {
      scaleUp: {
        stabilizationWindowSeconds: 0,
        selectPolicy: "Min",
        policies: [{ type: "Percent", value: 100, periodSeconds: 15 }],
      },
      scaleDown: {
        stabilizationWindowSeconds: 3600,
        selectPolicy: "Disabled",
        policies: [{ type: "Pods", value: 1, periodSeconds: 1800 }],
      },
    },
  },
};
const utilization = "must set either a target raw value or a target utilization";

test.each([
  ["little", minimal],
  ["everything", rich],
])("a HorizontalPodAutoscaler with %s is accepted", async (_, autoscaler) => {
  expect(await refusal(path, autoscaler)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, ...causes: string[]]>([
  ["minReplicas", 0, "minReplicas: Invalid value: 0: must be greater than or equal to 1"],
  ["minReplicas", 11, "maxReplicas: Invalid value: 10: must be greater than or equal to `minReplicas`"],
  [
    "maxReplicas",
    undefined,
    "maxReplicas: Required value: must be set and greater than 0",
    "maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`",
  ],
  ["scaleTargetRef.kind", "", "scaleTargetRef.kind: Required value"],
  [
    "scaleTargetRef.apiVersion",
    "v1",
    'scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group',
  ],
  ["scaleTargetRef.name", "a/b", "scaleTargetRef.name: Invalid value: \"a/b\": may not contain '/'"],
  [
    "metrics[0]",
    { type: "Magic" },
    'metrics[0].type: Unsupported value: "Magic": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"',
    'metrics[0].type: Unsupported value: "Magic": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"',
  ],
  [
    "metrics[0].resource",
    undefined,
    "metrics[0].resource: Required value: must populate information for the given metric source",
  ],
  [
    "metrics[0].pods",
    { metric, target: { type: "AverageValue", averageValue: "1" } },
    "metrics[0].pods: Forbidden: must populate the given metric source only",
  ],
  ["metrics[0].resource.name", "", "metrics[0].resource.name: Required value: must specify a resource name"],
  [
    "metrics[0].resource.target.averageUtilization",
    undefined,
    `metrics[0].resource.target.averageUtilization: Required value: ${utilization}`,
  ],
  [
    "metrics[0].resource.target.averageUtilization",
    0,
    "metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0",
  ],
  [
    "metrics[0].resource.target.averageValue",
    "1",
    "metrics[0].resource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization",
  ],
  [
    "metrics[1].containerResource.container",
    "",
    "metrics[1].containerResource.container: Required value: must specify a container",
  ],
  [
    "metrics[2].pods.target.averageValue",
    "0",
    'metrics[2].pods.target.averageValue: Invalid value: "0": must be positive',
  ],
  ["metrics[2].pods.metric.name", "", "metrics[2].pods.metric.name: Required value: must specify a metric name"],
  [
    "metrics[2].pods.target.type",
    "Share",
    'metrics[2].pods.target.type: Invalid value: "Share": must be either Utilization, Value, or AverageValue',
  ],
  [
    "metrics[3].object.target.value",
    undefined,
    "metrics[3].object.target.averageValue: Required value: must set either a target value or averageValue",
  ],
  ["metrics[3].object.describedObject.name", "", "metrics[3].object.describedObject.name: Required value"],
  [
    "metrics[4].external.target.value",
    "1",
    "metrics[4].external.target.value: Forbidden: may not set both a target value for metric and a per-pod target",
  ],
  [
    "behavior.scaleUp.selectPolicy",
    "Any",
    'behavior.scaleUp.selectPolicy: Unsupported value: "Any": supported values: "Disabled", "Max", "Min"',
  ],
  [
    "behavior.scaleDown.stabilizationWindowSeconds",
    3601,
    "behavior.scaleDown.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600",
  ],
  [
    "behavior.scaleDown.policies[0]",
    { type: "Nodes", value: 0, periodSeconds: 1801 },
    'behavior.scaleDown.policies[0].type: Unsupported value: "Nodes": supported values: "Percent", "Pods"',
    "behavior.scaleDown.policies[0].value: Invalid value: 0: must be greater than zero",
    "behavior.scaleDown.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800",
  ],
])("a HorizontalPodAutoscaler with %s = %j is refused", async (field, value, ...causes) => {
  expect(await refusal(path, changed(rich, `spec.${field}`, value))).toEqual(causes.map((cause) => `spec.${cause}`));
});

test("without metrics it looks at the processors", async () => {
  const { spec, metadata } = await created(path, minimal);
  expect(metadata.generation).toBeUndefined();
  expect(spec).toEqual({
    scaleTargetRef,
    minReplicas: 1,
    maxReplicas: 1,
    metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } }],
  });
});

test("the status has a path of its own", async () => {
  const status: JsonObject = { currentReplicas: 1, desiredReplicas: 2, currentMetrics: null };
  expect(await updated(path, minimal, { ...rich, status }, "status")).toMatchObject({
    spec: { maxReplicas: 1 },
    status: { currentReplicas: 1, desiredReplicas: 2 },
  });
  expect(await updateRefusal(path, minimal, { ...minimal, status: { desiredReplicas: -1 } }, "status")).toEqual([
    "status.desiredReplicas: Invalid value: -1: must be greater than or equal to 0",
  ]);
});
