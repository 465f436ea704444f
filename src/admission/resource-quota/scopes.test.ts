import { expect, test } from "bun:test";
import type { ResourceQuota, ScopedResourceSelectorRequirement } from "../../api/types/core-v1.ts";
import { pod } from "../testing.ts";
import { isInScope, scopeFactsOf } from "./scopes.ts";

const pods = { group: "", resource: "pods" };
const claims = { group: "", resource: "persistentvolumeclaims" };
const quota = (spec: ResourceQuota["spec"]) => ({ metadata: { name: "q" }, spec }) as ResourceQuota;
const selecting = (scopeName: string, operator: string, ...values: string[]) => {
  const requirement: ScopedResourceSelectorRequirement = {
    scopeName,
    operator,
    ...(values.length === 0 ? {} : { values }),
  };
  return quota({ scopeSelector: { matchExpressions: [requirement] } });
};
const burstable = { containers: [{ name: "c", resources: { requests: { cpu: "1" } } }] };
const term = (fields: object) => ({
  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [fields] } },
});

test.each([
  ["Terminating", { activeDeadlineSeconds: 5 }, true],
  ["Terminating", {}, false],
  ["NotTerminating", {}, true],
  ["NotTerminating", { activeDeadlineSeconds: 0 }, false],
  ["BestEffort", {}, true],
  ["BestEffort", burstable, false],
  ["NotBestEffort", burstable, true],
  ["PriorityClass", { priorityClassName: "x" }, true],
  ["PriorityClass", {}, false],
  ["CrossNamespacePodAffinity", term({ namespaces: ["other"] }), true],
  ["CrossNamespacePodAffinity", term({ namespaceSelector: {} }), true],
  ["CrossNamespacePodAffinity", term({}), false],
  ["CrossNamespacePodAffinity", {}, false],
])("the scope %s holds a pod %j: %p", (scope, spec, held) => {
  expect(isInScope(quota({ scopes: [scope] }), scopeFactsOf(pods, pod(spec)))).toBe(held);
});

test.each([
  ["In", ["a"], "a", true],
  ["In", ["a"], "b", false],
  ["In", ["a"], "", false],
  ["NotIn", ["a"], "b", true],
  ["NotIn", ["a"], "a", false],
  ["NotIn", ["a"], "", true],
  ["Exists", [], "a", true],
  ["Exists", [], "", false],
  ["DoesNotExist", [], "", true],
  ["DoesNotExist", [], "a", false],
])("priority class %s %j holds %j: %p", (operator, values, priorityClassName, held) => {
  const facts = scopeFactsOf(pods, pod({ priorityClassName }));
  expect(isInScope(selecting("PriorityClass", operator, ...values), facts)).toBe(held);
});

test("every scope must match", () => {
  const facts = scopeFactsOf(pods, pod({ activeDeadlineSeconds: 5 }));
  expect(isInScope(quota({ scopes: ["Terminating", "BestEffort"] }), facts)).toBe(true);
  expect(isInScope(quota({ scopes: ["Terminating", "NotBestEffort"] }), facts)).toBe(false);
});

test("a quota with scopes only matches pods and claims, one without matches everything", () => {
  const facts = scopeFactsOf({ group: "", resource: "services" }, { metadata: {} } as never);
  expect(isInScope(quota({ scopes: ["NotTerminating"] }), facts)).toBe(false);
  expect(isInScope(quota({}), facts)).toBe(true);
});

test("claims match by their attributes class, requested or current", () => {
  const claim = {
    metadata: {},
    spec: { volumeAttributesClassName: "gold" },
    status: { currentVolumeAttributesClassName: "silver" },
  };
  const facts = scopeFactsOf(claims, claim as never);
  for (const name of ["gold", "silver"]) {
    expect(isInScope(selecting("VolumeAttributesClass", "In", name), facts)).toBe(true);
  }
  expect(isInScope(selecting("VolumeAttributesClass", "In", "bronze"), facts)).toBe(false);
  expect(isInScope(selecting("VolumeAttributesClass", "Exists"), scopeFactsOf(claims, { metadata: {} } as never))).toBe(
    false,
  );
  expect(isInScope(quota({ scopes: ["BestEffort"] }), facts)).toBe(false);
});
