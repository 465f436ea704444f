import { expect, test } from "bun:test";
import type { JsonObject } from "../../../api/json.ts";
import { refusal } from "../../testing.ts";

/** The causes for which a pod with a container of these resources is refused. */
async function refusalOf(resources: JsonObject): Promise<string[]> {
  const spec = { containers: [{ name: "c", image: "i", resources }] };
  const causes = await refusal("v1/pods", { spec });
  return causes.map((cause) => cause.replace("spec.containers[0].resources", ""));
}

test.each<[resources: JsonObject]>([
  [{}],
  [{ limits: { cpu: "1", memory: "1Gi", "ephemeral-storage": "1Gi" }, requests: { cpu: 0 } }],
  [{ limits: { cpu: 1, "hugepages-2Mi": "4Mi" }, requests: { "hugepages-2Mi": "4Mi" } }],
  [{ limits: { "example.com/gpu": 2 }, requests: { "example.com/gpu": 2 } }],
])("%j are accepted", async (resources) => {
  expect(await refusalOf(resources)).toEqual([]);
});

test.each<[resources: JsonObject, ...causes: string[]]>([
  [{ requests: { cpu: "-1" } }, '.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
  [
    { limits: { cpu: 1 }, requests: { cpu: 2 } },
    '.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
  ],
  [
    { limits: { "example.com/gpu": "1500m" }, requests: { "example.com/gpu": "1500m" } },
    '.limits[example.com/gpu]: Invalid value: "1500m": must be an integer',
    '.requests[example.com/gpu]: Invalid value: "1500m": must be an integer',
  ],
  [
    { limits: { "example.com/gpu": 2 }, requests: { "example.com/gpu": 1 } },
    '.requests: Invalid value: "1": must be equal to example.com/gpu limit of 2',
  ],
  [
    { requests: { "example.com/gpu": 1 } },
    ".limits: Required value: Limit must be set for non overcommitable resources",
  ],
  [{ limits: { "hugepages-2Mi": "2Mi" } }, ": Forbidden: HugePages require cpu or memory"],
  [
    { limits: { cpu: 1, "hugepages-2Mi": "3Mi" } },
    '.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
    '.requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
  ],
  [
    { limits: { pods: 1 } },
    '.limits[pods]: Invalid value: "pods": must be a standard resource for containers',
    '.requests[pods]: Invalid value: "pods": must be a standard resource for containers',
  ],
  [
    { claims: [{ name: "a" }] },
    '.claims[0]: Not found: "a": must be one of the names in pod.spec.resourceClaims which is empty',
  ],
])("%j are refused", async (resources, ...causes) => {
  expect(await refusalOf(resources)).toEqual(causes);
});
