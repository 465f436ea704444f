import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, created, refusal } from "../testing.ts";

const path = "v1/limitranges";
const minimal: JsonObject = { spec: { limits: [] } };
const rich: JsonObject = {
  spec: {
    limits: [
      {
        type: "Container",
        min: { cpu: "100m" },
        defaultRequest: { cpu: "200m" },
        default: { cpu: "300m" },
        max: { cpu: "400m" },
        maxLimitRequestRatio: { cpu: 4 },
      },
      { type: "Pod", max: { memory: "1Gi" }, maxLimitRequestRatio: { memory: "1.5" } },
      { type: "PersistentVolumeClaim", max: { storage: "1Ti" } },
      { type: "example.com/thing", max: { "example.com/size": 3 } },
    ],
  },
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a LimitRange with %s is accepted", async (_, range) => {
  expect(await refusal(path, range)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, ...causes: string[]]>([
  ["[0].type", "Node", '[0].type: Invalid value: "Node": must be a standard limit type or fully qualified'],
  [
    "[1].type",
    "PersistentVolumeClaim",
    "[1].limits: Required value: either minimum or maximum storage value is required, but neither was provided",
    '[2].type: Duplicate value: "PersistentVolumeClaim"',
  ],
  ["[1].default", { cpu: 1 }, "[1].default: Forbidden: may not be specified when `type` is 'Pod'"],
  ["[1].defaultRequest", { cpu: 1 }, "[1].defaultRequest: Forbidden: may not be specified when `type` is 'Pod'"],
  [
    "[0].min.cpu",
    "350m",
    '[0].defaultRequest[cpu]: Invalid value: "200m": min value 350m is greater than default request value 200m',
    '[0].default[cpu]: Invalid value: "350m": min value 350m is greater than default value 300m',
    '[0].maxLimitRequestRatio[cpu]: Invalid value: "4": ratio 4 is greater than max/min = 1.142857',
  ],
  [
    "[0].max.cpu",
    "250m",
    '[0].default[cpu]: Invalid value: "250m": default value 300m is greater than max value 250m',
    '[0].maxLimitRequestRatio[cpu]: Invalid value: "4": ratio 4 is greater than max/min = 2.500000',
  ],
  [
    "[0].defaultRequest.cpu",
    "350m",
    '[0].defaultRequest[cpu]: Invalid value: "350m": default request value 350m is greater than default limit value 300m',
  ],
  [
    "[1].maxLimitRequestRatio.memory",
    "500m",
    '[1].maxLimitRequestRatio[memory]: Invalid value: "500m": ratio 500m is less than 1',
  ],
  [
    "[0].max",
    { disk: 1 },
    '[0].max[disk]: Invalid value: "disk": must be a standard resource type or fully qualified',
    '[0].max[disk]: Invalid value: "disk": must be a standard resource for containers',
    '[0].default[disk]: Invalid value: "disk": must be a standard resource type or fully qualified',
    '[0].default[disk]: Invalid value: "disk": must be a standard resource for containers',
    '[0].defaultRequest[disk]: Invalid value: "disk": must be a standard resource type or fully qualified',
    '[0].defaultRequest[disk]: Invalid value: "disk": must be a standard resource for containers',
  ],
])("a LimitRange with limits%s = %j is refused", async (field, value, ...causes) => {
  expect(await refusal(path, changed(rich, `spec.limits${field}`, value))).toEqual(
    causes.map((cause) => `spec.limits${cause}`),
  );
});

test("bounds of containers are their defaults", async () => {
  const range: JsonObject = { spec: { limits: [{ type: "Container", min: { cpu: 1 }, max: { memory: "1Gi" } }] } };
  expect((await created(path, range))["spec"]).toEqual({
    limits: [
      {
        type: "Container",
        min: { cpu: "1" },
        max: { memory: "1Gi" },
        default: { memory: "1Gi" },
        defaultRequest: { cpu: "1", memory: "1Gi" },
      },
    ],
  });
});
