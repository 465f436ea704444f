import { describe, expect, test } from "bun:test";
import type { KubeObject } from "../../../../api/object-meta.ts";
import { aggregatedRules, hasRules } from "../aggregate.ts";
import { defaultObjects } from "./default-objects.ts";
import { reconcile } from "./reconcile.ts";

const on = defaultObjects(() => true);
const off = defaultObjects(() => false);
const named = (objects: readonly KubeObject[], kind: string) =>
  objects.filter((object) => object.kind === kind).map(({ metadata }) => metadata.name ?? "");
const find = (kind: string, name: string) =>
  structuredClone(on.find((object) => object.kind === kind && object.metadata.name === name) as KubeObject);

describe("the defaults", () => {
  test("are those of the release", () => {
    const roles = named(off, "ClusterRole");
    expect(roles.filter((name) => !name.startsWith("system:")).sort()).toEqual([
      "admin",
      "cluster-admin",
      "edit",
      "view",
    ]);
    expect(roles.filter((name) => name.startsWith("system:controller:")).length).toBe(36);
    expect(new Set(roles).size).toBe(roles.length);
    for (const name of [
      "system:discovery",
      "system:monitoring",
      "system:basic-user",
      "system:public-info-viewer",
      "system:node",
      "system:kube-scheduler",
      "system:auth-delegator",
    ]) {
      expect(roles).toContain(name);
    }
  });

  test("behind a gate exist only with the gate", () => {
    const gated = named(on, "ClusterRole").filter((name) => !named(off, "ClusterRole").includes(name));
    expect(gated).toContain("system:controller:podcertificaterequestcleaner");
    expect(gated).toContain("system:cluster-trust-bundle-discovery");
    expect(named(off, "ClusterRoleBinding").some((name) => gated.includes(name))).toBe(false);
  });

  test("every binding refers to an existing role", () => {
    for (const objects of [on, off]) {
      for (const { kind, metadata, roleRef } of objects) {
        if (!kind.endsWith("Binding")) continue;
        const { kind: roleKind, name } = roleRef as { kind: string; name: string };
        const namespace = roleKind === "Role" ? metadata.namespace : undefined;
        const found = objects.some(
          (one) => one.kind === roleKind && one.metadata.name === name && one.metadata.namespace === namespace,
        );
        expect({ binding: metadata.name, found }).toEqual({ binding: metadata.name, found: true });
      }
    }
  });

  test("only administrators may do everything, and anonymous users almost nothing", () => {
    const bindings = on.filter(({ kind }) => kind.endsWith("Binding"));
    const subjectsOf = (role: string) =>
      bindings
        .filter(({ roleRef }) => (roleRef as { name: string }).name === role)
        .flatMap(({ subjects }) => (subjects ?? []) as { name: string }[]);
    expect(subjectsOf("cluster-admin").map(({ name }) => name)).toEqual(["system:masters"]);
    expect(subjectsOf("system:node")).toEqual([]);
    const ofStrangers = bindings.filter(({ subjects }) =>
      JSON.stringify(subjects ?? []).includes("system:unauthenticated"),
    );
    expect(ofStrangers.map(({ metadata }) => metadata.name)).toEqual(["system:public-info-viewer"]);
  });

  test("admin, edit and view include the rules that they aggregate, and need no second round", () => {
    const roles = on.filter(({ kind }) => kind === "ClusterRole");
    for (const role of roles) {
      const rules = aggregatedRules(role, roles);
      if (rules !== undefined) expect(hasRules(role, rules)).toBe(true);
    }
    const text = (name: string) => JSON.stringify(find("ClusterRole", name)["rules"]);
    expect(text("view")).not.toContain('"secrets"');
    expect(text("edit")).toContain('"secrets"');
    expect(text("edit")).not.toContain("rolebindings");
    expect(text("admin")).toContain("rolebindings");
  });
});

describe("reconciling", () => {
  const change = (kind: string, name: string, edit: (object: any) => void) => {
    const expected = find(kind, name);
    const existing = structuredClone(expected);
    edit(existing);
    return reconcile(existing, expected);
  };

  test("leaves correct objects alone", () => {
    for (const object of on) expect(reconcile(structuredClone(object), object)).toEqual({ kind: "unchanged" });
  });

  test("adds missing rules and keeps added ones", () => {
    const own = { apiGroups: ["x"], resources: ["y"], verbs: ["z"] };
    const result = change("ClusterRole", "system:discovery", (role) => {
      role.rules = [own];
    });
    expect(result).toMatchObject({
      kind: "update",
      object: { rules: [own, find("ClusterRole", "system:discovery")["rules"]].flat() },
    });
    const bound = change("ClusterRoleBinding", "system:discovery", (binding) => {
      binding.subjects = [{ kind: "User", name: "me", apiGroup: "rbac.authorization.k8s.io" }];
    });
    expect(bound).toMatchObject({
      kind: "update",
      object: { subjects: [{ name: "me" }, { name: "system:authenticated" }] },
    });
  });

  test("accepts a wider rule", () => {
    const all = { apiGroups: ["*"], resources: ["*"], verbs: ["*"] };
    expect(
      change("ClusterRole", "system:kube-dns", (role) => {
        role.rules = [all];
      }),
    ).toEqual({ kind: "unchanged" });
  });

  test("restores labels and annotations without touching others", () => {
    const result = change("ClusterRole", "view", (role) => {
      role.metadata.labels = { mine: "1" };
      delete role.metadata.annotations;
    });
    expect(result).toMatchObject({
      kind: "update",
      object: {
        metadata: {
          labels: { mine: "1", "rbac.authorization.k8s.io/aggregate-to-edit": "true" },
          annotations: { "rbac.authorization.kubernetes.io/autoupdate": "true" },
        },
      },
    });
  });

  test("ignores objects that opt out", () => {
    const result = change("ClusterRole", "system:discovery", (role) => {
      role.metadata.annotations["rbac.authorization.kubernetes.io/autoupdate"] = "false";
      role.rules = [];
    });
    expect(result).toEqual({ kind: "unchanged" });
  });

  test("replaces a binding that refers to another role, because that cannot be changed", () => {
    expect(
      change("ClusterRoleBinding", "cluster-admin", (binding) => {
        binding.roleRef.name = "view";
      }),
    ).toEqual({ kind: "replace" });
  });
});

describe("aggregation", () => {
  const role = (name: string, labels: Record<string, string>, ...verbs: string[]): KubeObject => ({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name, labels },
    rules: verbs.map((verb) => ({ apiGroups: [""], resources: ["pods"], verbs: [verb] })),
  });
  const collector = (...clusterRoleSelectors: object[]): KubeObject => ({
    ...role("collector", { a: "1" }),
    aggregationRule: { clusterRoleSelectors: clusterRoleSelectors as never },
  });
  const verbsOf = (selectors: object[], ...roles: KubeObject[]) => {
    const own = collector(...selectors);
    return aggregatedRules(own, [own, ...roles])?.flatMap(({ verbs }) => verbs as string[]);
  };

  test.each<[string, object[], string[]]>([
    ["by name's order, each rule once", [{ matchLabels: { a: "1" } }], ["get", "list", "watch"]],
    [
      "by several selectors",
      [{ matchLabels: { b: "1" } }, { matchExpressions: [{ key: "c", operator: "Exists" }] }],
      ["list", "watch", "delete"],
    ],
    ["none by no selector", [], []],
    ["none by one that cannot be read", [{ matchExpressions: [{ key: "a", operator: "Like" }] }], []],
    ["all by an empty one", [{}], ["get", "list", "watch", "delete"]],
  ])("%s", (_name, selectors, verbs) => {
    const roles = [
      role("z", { a: "1", b: "1" }, "list", "watch"),
      role("y", { a: "1" }, "get", "list"),
      role("zz", { c: "x" }, "delete"),
    ];
    expect(verbsOf(selectors, ...roles)).toEqual(verbs);
  });

  test("does not apply to a role with its own rules", () => {
    expect(aggregatedRules(role("r", {}, "get"), [])).toBeUndefined();
  });
});
