import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, created, refusal, updateRefusal } from "../testing.ts";

const path = "scheduling.k8s.io/v1alpha2/workloads";
const basic = { name: "a", schedulingPolicy: { basic: {} } };
const gang = { name: "a", schedulingPolicy: { gang: { minCount: 0 } } };
const workload: JsonObject = {
  metadata: { name: "w" },
  spec: { controllerRef: { apiGroup: "batch", kind: "Job", name: "j" }, podGroupTemplates: [basic] },
};

test("a Workload is stored as it is sent", async () => {
  const { spec } = await created(path, workload);
  const [template] = (spec as { podGroupTemplates: JsonObject[] }).podGroupTemplates;
  expect(template).toEqual({ ...basic, schedulingConstraints: null });
});

test.each<[field: string, value: JsonValue, causes: string[]]>([
  ["spec.podGroupTemplates", [], ["spec.podGroupTemplates: Required value"]],
  [
    "spec.podGroupTemplates",
    [{ name: "A", schedulingPolicy: {} }],
    [
      "spec.podGroupTemplates[0].name: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
      'spec.podGroupTemplates[0].schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`',
    ],
  ],
  [
    "spec.podGroupTemplates",
    [{ name: "a", schedulingPolicy: { basic: {}, gang: { minCount: 0 } } }, gang],
    [
      'spec.podGroupTemplates[1]: Duplicate value: {"name":"a","schedulingPolicy":{"gang":{"minCount":0}},"schedulingConstraints":null}',
      'spec.podGroupTemplates[0].schedulingPolicy: Invalid value: "{basic, gang}": must specify exactly one of: `basic`, `gang`',
      "spec.podGroupTemplates[0].schedulingPolicy.gang.minCount: Required value",
      "spec.podGroupTemplates[1].schedulingPolicy.gang.minCount: Required value",
    ],
  ],
  [
    "spec.controllerRef",
    { kind: "", name: "a/b" },
    ["spec.controllerRef.kind: Required value", "spec.controllerRef.name: Invalid value: \"a/b\": may not contain '/'"],
  ],
])("a Workload whose %s is %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(workload, field, value))).toEqual(causes);
});

test("the templates of a Workload cannot change", async () => {
  const other = changed(workload, "spec.podGroupTemplates", [{ ...basic, name: "b" }]);
  expect(await updateRefusal(path, workload, other)).toEqual([
    "spec.podGroupTemplates: Invalid value: null: field is immutable",
  ]);
});
