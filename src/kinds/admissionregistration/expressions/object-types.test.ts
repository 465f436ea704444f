import { expect, test } from "bun:test";
import { metaSchema } from "../../../api/codec/meta-schema.ts";
import { structForm } from "../../../api/scheme/object-form.ts";
import { compileTyped, storedEnvironment } from "../../../cel/index.ts";
import { objectTypeOf } from "./object-types.ts";

const pod = objectTypeOf(structForm(metaSchema("core/v1.Pod")), "Pod");
if (pod === undefined) throw new Error("a Pod has a type");
const environment = storedEnvironment().extend({ variables: new Map([["object", pod.type]]), provider: pod.provider });

test.each([
  "object.kind == 'Pod' && object.metadata.namespace == object.metadata.__namespace__",
  "object.spec.containers.all(c, c.image.startsWith('x') && c.ports[0].hostPort > 1)",
  "object.metadata.labels['a'] == 'b' && object.metadata.creationTimestamp > timestamp('2020-01-01T00:00:00Z')",
  "object.spec.containers[0].livenessProbe.httpGet.port == 5 && object.spec.hostNetwork",
])("%s has the types of a Pod", (text) => {
  expect(compileTyped(text, environment, []).text).toBe(text);
});

test.each([
  ["object.spec.nothing", "undefined field 'nothing'"],
  ["object.spec.containers[0].resources.limits", "undefined field 'limits'"],
  ["object.metadata.labels == 5", "'(map(string, string), int)'"],
])("%s has not", (text, problem) => {
  expect(() => compileTyped(text, environment, [])).toThrow(problem);
});
