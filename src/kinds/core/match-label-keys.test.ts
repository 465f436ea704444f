import { describe, expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { created, refusal } from "../testing.ts";

const matchLabels = { app: "web" };
const terms: readonly [string, (term: JsonObject) => JsonObject][] = [
  ["a spread constraint", (term) => ({ topologySpreadConstraints: [{ ...term, ...spread }] })],
  [
    "a required affinity",
    (term) => affinity("podAffinity", { requiredDuringSchedulingIgnoredDuringExecution: [term] }),
  ],
  [
    "a preferred anti-affinity",
    (podAffinityTerm) =>
      affinity("podAntiAffinity", {
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm }],
      }),
  ],
];
const spread = { maxSkew: 1, whenUnsatisfiable: "DoNotSchedule" };

function affinity(kind: string, rules: JsonObject): JsonObject {
  return { affinity: { [kind]: rules } };
}

function podWith(spec: JsonObject): JsonObject {
  const containers = [{ name: "web", image: "example.com/web:1" }];
  return { metadata: { labels: { app: "web", version: "2" } }, spec: { containers, ...spec } };
}

/** Returns the selector of the only term of a stored pod. */
function selectorOf({ spec }: Pod): JsonValue | undefined {
  const { podAffinity = {}, podAntiAffinity = {} } = spec?.affinity ?? {};
  const [term = podAffinity.requiredDuringSchedulingIgnoredDuringExecution?.[0]] =
    spec?.topologySpreadConstraints ?? [];
  return (term ?? podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution?.[0]?.podAffinityTerm)?.labelSelector;
}

describe.each(terms)("%s", (_, specOf) => {
  const stored = async (term: JsonObject) =>
    selectorOf((await created("v1/pods", podWith(specOf({ topologyKey: "zone", ...term })))) as Pod);

  test("selects by the pod's own values of its label keys", async () => {
    const matchLabelKeys = ["version", "unknown"];
    expect(await stored({ labelSelector: { matchLabels }, matchLabelKeys })).toEqual({
      matchLabels,
      matchExpressions: [{ key: "version", operator: "In", values: ["2"] }],
    });
  });

  test("that also selects by one of its keys is refused", async () => {
    const labelSelector = { matchExpressions: [{ key: "version", operator: "Exists" }] };
    const term = { topologyKey: "zone", labelSelector, matchLabelKeys: ["version"] };
    const [cause = "", ...more] = await refusal("v1/pods", podWith(specOf(term)));
    expect(cause).toEndWith('[0]: Invalid value: "version": exists in both matchLabelKeys and labelSelector');
    expect(more).toEqual([]);
  });
});

test("an affinity excludes the pod's own values of its mismatching keys", async () => {
  const term = { topologyKey: "zone", labelSelector: { matchLabels }, mismatchLabelKeys: ["version"] };
  const spec = affinity("podAffinity", { requiredDuringSchedulingIgnoredDuringExecution: [term] });
  expect(selectorOf((await created("v1/pods", podWith(spec))) as Pod)).toEqual({
    matchLabels,
    matchExpressions: [{ key: "version", operator: "NotIn", values: ["2"] }],
  });
});
