import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updated } from "../testing.ts";

const path = "v1/podtemplates";
const minimal: JsonObject = { template: { spec: { containers: [{ name: "c", image: "i" }] } } };
const rich: JsonObject = {
  template: {
    metadata: {
      labels: { a: "b" },
      annotations: { "container.seccomp.security.alpha.kubernetes.io/c": "localhost/a" },
    },
    spec: { hostNetwork: true, containers: [{ name: "c", image: " ", ports: [{ containerPort: 1, hostPort: 1 }] }] },
  },
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a PodTemplate with %s is accepted", async (_, template) => {
  expect(await refusal(path, template)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, ...causes: string[]]>([
  ["spec.containers", [], "spec.containers: Required value"],
  ["spec.containers[0].name", "", "spec.containers[0].name: Required value"],
  [
    "spec.containers[0].ports[0].hostPort",
    2,
    "spec.containers[0].ports[0].hostPort: Invalid value: 2: must match `containerPort` when `hostNetwork` is true",
  ],
  [
    "spec.ephemeralContainers",
    [{ name: "e", image: "i" }],
    "spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template",
  ],
  [
    "metadata.annotations",
    { "seccomp.security.alpha.kubernetes.io/pod": "all" },
    'annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: "all": must be a valid seccomp profile',
  ],
  [
    "metadata.labels",
    { a: "b c" },
    "labels: Invalid value: \"b c\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  ],
])("a PodTemplate with %s = %j is refused", async (field, value, ...causes) => {
  expect(await refusal(path, changed(rich, `template.${field}`, value))).toEqual(
    causes.map((cause) => `template.${cause}`),
  );
});

test("each change of the template is a generation", async () => {
  expect((await updated(path, minimal, changed(minimal, "metadata.labels", { a: "b" }))).metadata.generation).toBe(1);
  expect((await updated(path, minimal, rich)).metadata.generation).toBe(2);
});
