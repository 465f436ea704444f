import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, created, refusal, updateRefusal } from "../testing.ts";

const path = "scheduling.k8s.io/v1alpha2/podgroups";
const group: JsonObject = { metadata: { name: "g" }, spec: { schedulingPolicy: { basic: {} } } };

test("the pods of a PodGroup may be disrupted one by one by default", async () => {
  const { spec } = await created(path, group);
  expect(spec).toMatchObject({ podGroupTemplateRef: null, disruptionMode: "Pod" });
});

test.each<[field: string, value: JsonValue, causes: string[]]>([
  ["spec.schedulingPolicy", {}, ['spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`']],
  [
    "spec.podGroupTemplateRef",
    { workload: { workloadName: "", podGroupTemplateName: "T" } },
    [
      "spec.podGroupTemplateRef.workload.workloadName: Required value",
      expect.stringMatching(/^spec.podGroupTemplateRef.workload.podGroupTemplateName: Invalid value: "T": /),
    ],
  ],
])("a PodGroup whose %s is %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(group, field, value))).toEqual(causes);
});

test("the policy of a PodGroup cannot change", async () => {
  const other = changed(group, "spec.schedulingPolicy", { gang: { minCount: 1 } });
  expect(await updateRefusal(path, group, other)).toEqual([
    "spec.schedulingPolicy: Invalid value: null: field is immutable",
  ]);
});
