import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../api/json.ts";
import { structOf } from "../api/scheme/object-form.ts";
import { Scheme } from "./scheme.ts";

const scheme = Scheme.builtIn();

describe("built-in scheme", () => {
  test("finds a resource by name and by kind", () => {
    const pods = scheme.find("", "v1", "pods");
    expect(pods).toBeDefined();
    expect(pods).toBe(scheme.findKind({ group: "", version: "v1", kind: "Pod" }) as NonNullable<typeof pods>);
    expect(pods?.keyPrefix).toBe("/registry/pods/");
    expect(pods?.shortNames).toEqual(["po"]);
    expect(scheme.find("apps", "v1", "pods")).toBeUndefined();
    expect(scheme.find("", "v1", "__proto__")).toBeUndefined();
  });

  test("keeps nodes under the prefix that they have always had", () => {
    expect(scheme.find("", "v1", "nodes")?.keyPrefix).toBe("/registry/minions/");
  });

  test("lists groups in discovery order, core first", () => {
    const groups = scheme.groups();
    expect(groups.slice(0, 3).map(({ group }) => group)).toEqual(["", "apiregistration.k8s.io", "apps"]);
    expect(groups.find(({ group }) => group === "autoscaling")).toEqual({
      group: "autoscaling",
      versions: ["v2", "v1"],
      preferredVersion: "v2",
    });
  });

  test("gives a subresource the kind of its own body", () => {
    const pods = scheme.find("", "v1", "pods");
    expect(pods?.subresources.get("eviction")?.gvk).toEqual({ group: "policy", version: "v1", kind: "Eviction" });
    expect(pods?.subresources.get("status")?.form).toBe(pods?.form as never);
  });

  test("compiles every type that a resource leads to", () => {
    for (const info of scheme.resources) {
      if (info.listKind === "") continue;
      const list = `${structOf(info).name.slice(0, structOf(info).name.lastIndexOf("."))}.${info.listKind}`;
      expect(scheme.typeSchema(list).fields.get("items")?.schema).toMatchObject({ kind: "list" });
    }
  });

  test("refuses a type that does not exist", () => {
    expect(() => scheme.typeSchema("core/v1.Nothing")).toThrow("core/v1.Nothing");
    expect(() => scheme.typeSchema("constructor")).toThrow("constructor");
  });

  test("fills in the table columns", () => {
    const columns = scheme.find("", "v1", "pods")?.columns ?? [];
    expect(columns[0]).toMatchObject({ name: "Name", type: "string", format: "name", priority: 0 });
    expect(columns.find(({ name }) => name === "IP")?.priority).toBe(1);
  });
});

describe("runtime configuration", () => {
  const served = (config: Record<string, boolean>) =>
    Scheme.builtIn({ runtimeConfig: new Map(Object.entries(config)) }).resources.map(({ resource }) => resource);

  test("turns off a group version", () => {
    expect(served({ "coordination.k8s.io/v1": false })).not.toContain("leases");
  });
  test("lets the narrower key decide, whatever the order", () => {
    expect(served({ "v1/pods": true, "api/all": false })).toEqual(["pods"]);
    expect(served({ "api/ga": true, "api/all": false })).toContain("leases");
  });
  test.each([
    ["nothing.example/v1", "unknown api groups nothing.example"],
    ["apps/v9", "unknown api versions apps/v9"],
    ["v2", "unknown api versions v2"],
    ["flowcontrol.apiserver.k8s.io/v1beta3", "unknown api versions flowcontrol.apiserver.k8s.io/v1beta3"],
    ["apps/v1/pods", "unknown api resources apps/v1/pods"],
    ["v1/nothing", "unknown api resources v1/nothing"],
  ])("refuses %s", (key, message) => {
    expect(() => served({ [key]: false })).toThrow(message);
  });
  test("turns on beta and alpha versions, and leaves out resources whose gate is off", () => {
    const runtimeConfig = new Map([["api/all", true]]);
    const all = Scheme.builtIn({ runtimeConfig });
    expect(all.find("resource.k8s.io", "v1beta1", "resourceslices")).toBeDefined();
    expect(all.find("certificates.k8s.io", "v1beta1", "clustertrustbundles")).toBeDefined();
    const gated = Scheme.builtIn({ runtimeConfig, gateEnabled: (gate) => gate !== "ClusterTrustBundle" });
    expect(gated.find("certificates.k8s.io", "v1beta1", "clustertrustbundles")).toBeUndefined();
    expect(gated.find("certificates.k8s.io", "v1alpha1", "clustertrustbundles")).toBeUndefined();
    expect(gated.resources.length).toBe(all.resources.length - 2);
  });
});

describe("versions of one kind", () => {
  test("are stored once, in the storage version", () => {
    const v1 = scheme.find("autoscaling", "v1", "horizontalpodautoscalers");
    const v2 = scheme.find("autoscaling", "v2", "horizontalpodautoscalers");
    expect(v1?.storedAs?.info).toBe(v2 as NonNullable<typeof v2>);
    expect(scheme.stored.filter(({ kind }) => kind === "HorizontalPodAutoscaler")).toHaveLength(1);
    const prefixes = scheme.stored.map(({ keyPrefix }) => keyPrefix);
    expect(new Set(prefixes).size).toBe(prefixes.length);
  });
  test.each([
    ["networking.k8s.io", "v1beta1", "ipaddresses"],
    ["networking.k8s.io", "v1beta1", "servicecidrs"],
    ["storage.k8s.io", "v1beta1", "volumeattributesclasses"],
  ])("%s/%s %s are those of v1", (group, version, resource) => {
    const all = Scheme.builtIn({ runtimeConfig: new Map([["api/beta", true]]) });
    const info = all.find(group, version, resource);
    expect(info?.storedAs?.info.version).toBe("v1");
    expect(info?.storedAs?.conversion).toBeUndefined();
    expect(scheme.find(group, version, resource)).toBeUndefined();
  });
  test("may be stored in a version that is not served", () => {
    const alone = Scheme.builtIn({ runtimeConfig: new Map([["coordination.k8s.io/v1alpha2", true]]) });
    expect(alone.find("coordination.k8s.io", "v1beta1", "leasecandidates")).toBeUndefined();
    expect(alone.stored.find(({ kind }) => kind === "LeaseCandidate")?.version).toBe("v1beta1");
  });
});

describe("selectable fields", () => {
  const read = (resource: string, label: string, object: JsonObject) =>
    scheme.find("", "v1", resource)?.selectableFields.get(label)?.(object);

  const cases: readonly [resource: string, label: string, object: JsonObject, expected: string][] = [
    ["pods", "spec.nodeName", { spec: { nodeName: "n1" } }, "n1"],
    ["pods", "spec.host", { spec: { nodeName: "n1" } }, "n1"],
    ["pods", "spec.nodeName", {}, ""],
    ["pods", "spec.hostNetwork", { spec: {} }, "false"],
    ["pods", "spec.hostNetwork", { spec: { hostNetwork: true } }, "true"],
    ["pods", "status.podIP", { status: { podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }] } }, "10.0.0.1"],
    ["pods", "status.podIPs", { status: { podIPs: [{ ip: "10.0.0.1" }] } }, ""],
    ["nodes", "spec.unschedulable", {}, "false"],
    ["nodes", "spec.unschedulable", { spec: { unschedulable: true } }, "true"],
    ["events", "involvedObject.name", { involvedObject: { name: "p" } }, "p"],
    ["events", "source", { source: { component: "kubelet" }, reportingComponent: "x" }, "kubelet"],
    ["events", "source", { source: {}, reportingComponent: "x" }, "x"],
    ["secrets", "type", { type: "Opaque" }, "Opaque"],
    ["namespaces", "status.phase", { status: { phase: "Active" } }, "Active"],
  ];
  for (const [resource, label, object, expected] of cases) {
    test(`${label} of ${resource} reads ${JSON.stringify(expected)} from ${JSON.stringify(object)}`, () => {
      expect(read(resource, label, object)).toBe(expected);
    });
  }
  test("name and namespace need no reader", () => {
    expect(scheme.find("", "v1", "pods")?.selectableFields.has("metadata.name")).toBe(false);
  });
});
