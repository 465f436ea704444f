import { describe, expect, test } from "bun:test";
import { apiVersionOf } from "../../api/gvk.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { fromStorage, toStorage } from "../../api/scheme/conversion/convert.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import { Scheme } from "../scheme.ts";

const v1 = Scheme.builtIn().find("autoscaling", "v1", "horizontalpodautoscalers") as ResourceInfo;
const prefix = "autoscaling.alpha.kubernetes.io";

function stored(annotations: Record<string, string>, fields: object = {}): any {
  const object = { kind: v1.kind, apiVersion: apiVersionOf(v1), metadata: { name: "a", annotations }, ...fields };
  return toStorage(object as KubeObject, v1);
}

function served(fields: object): any {
  return fromStorage(
    { kind: v1.kind, apiVersion: "autoscaling/v2", metadata: { name: "a" }, ...fields } as KubeObject,
    v1,
  );
}

describe("annotations of autoscaling/v1", () => {
  test.each([
    ["metrics", "not JSON"],
    ["metrics", '[{"type":"Resource","resource":{"name":7}}]'],
    ["metrics", '{"type":"Resource"}'],
    ["current-metrics", '[{"type":"Pods","pods":{"metricName":{}}}]'],
    ["conditions", '[{"type":[]}]'],
    ["behavior", '{"ScaleUp":{"Policies":7}}'],
    ["behavior", `${'{"a":'.repeat(50)}1${"}".repeat(50)}`],
    ["behavior", "[]"],
  ])("%s with %p is left out", (name, text) => {
    const { metadata, spec, status } = stored({ [`${prefix}/${name}`]: text, kept: "yes" });
    expect(metadata.annotations).toEqual({ kept: "yes" });
    expect({ ...spec, ...status }).toEqual({});
  });

  test("behaviour is written with capitals and nulls, and read in any case", () => {
    const policies = [{ type: "Pods", value: 4, periodSeconds: 15 }];
    const behavior = { scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: "Max", policies } };
    const text = served({ spec: { behavior } }).metadata.annotations[`${prefix}/behavior`];
    expect(text).toBe(
      '{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15}],"Tolerance":null},"ScaleDown":null}',
    );
    expect(stored({ [`${prefix}/behavior`]: text }).spec.behavior).toEqual(behavior);
    expect(
      stored({ [`${prefix}/behavior`]: text.toLowerCase().replaceAll('"max"', '"Max"') }).spec.behavior.scaleUp
        .selectPolicy,
    ).toBe("Max");
  });

  test("that came from the store are not the ones that a client wrote there", () => {
    const { metadata } = served({ metadata: { name: "a", annotations: { [`${prefix}/metrics`]: "[]", kept: "yes" } } });
    expect(metadata.annotations).toEqual({ kept: "yes" });
  });
});

test("only the first CPU utilization has a field, others keep their place among the metrics", () => {
  const cpu = (averageUtilization: number) => ({
    type: "Resource",
    resource: { name: "cpu", target: { type: "Utilization", averageUtilization } },
  });
  const raw = { type: "Resource", resource: { name: "cpu", target: { type: "AverageValue", averageValue: "1" } } };
  const twice = served({ spec: { metrics: [cpu(60), cpu(70)] } });
  expect(twice.spec.targetCPUUtilizationPercentage).toBe(60);
  expect((toStorage(twice, v1) as any).spec.metrics).toEqual([cpu(60), cpu(70)]);
  const value = served({ spec: { metrics: [raw, cpu(70)] } });
  expect(value.spec.targetCPUUtilizationPercentage).toBeUndefined();
  expect((toStorage(value, v1) as any).spec.metrics).toEqual([raw, cpu(70)]);
});

test("a count beyond 2^53 survives the annotation", () => {
  const conditions = [
    { type: "ScalingActive", status: "True", lastTransitionTime: null, observedGeneration: 2n ** 62n },
  ];
  const object = served({ status: { conditions } });
  expect((toStorage(object, v1) as any).status.conditions).toEqual(conditions);
});
