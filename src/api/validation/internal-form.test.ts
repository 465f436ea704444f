import { expect, test } from "bun:test";
import { internalForm, internalForms } from "./internal-form.ts";

test("internalForm() shows every field under its name in Go, unset ones too", () => {
  expect(internalForm({ key: "a", effect: "NoExecute" }, "core/v1.Taint")).toEqual({
    Key: "a",
    Value: "",
    Effect: "NoExecute",
    TimeAdded: null,
  });
  expect(JSON.stringify(internalForm({ protocol: "TCP", port: 80 }, "core/v1.ServicePort"))).toBe(
    '{"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
  );
});

test("internalForm() puts the host's namespaces of a pod into its security context", () => {
  const form = internalForm({ hostNetwork: true }, "core/v1.PodSpec") as { SecurityContext: object };
  expect(form.SecurityContext).toMatchObject({ HostNetwork: true, HostPID: false, HostUsers: null, RunAsUser: null });
});

test("internalForm() keeps the JSON of types that have one form only, and orders the keys of maps", () => {
  const selector = { matchLabels: { app: "x" } };
  expect(internalForm({ minAvailable: 1, selector }, "policy/v1.PodDisruptionBudgetSpec")).toEqual({
    MinAvailable: 1,
    Selector: selector,
    MaxUnavailable: null,
    UnhealthyPodEvictionPolicy: null,
  });
  const form = internalForm({ nodeSelector: { b: "1", a: "2" } }, "core/v1.PodSpec") as { NodeSelector: object };
  expect(Object.keys(form.NodeSelector)).toEqual(["a", "b"]);
});

test("internalForm() finds fields whose names in JSON are other words", () => {
  const form = internalForm({ rbd: { monitors: ["a"], image: "i" } }, "core/v1.PersistentVolumeSource");
  expect(form).toMatchObject({ RBD: { CephMonitors: ["a"], RBDImage: "i", RadosUser: "" } });
});

test("internalForm() joins the metadata of a template with its other fields", () => {
  const template = { metadata: { labels: { b: "1", a: "2" } }, spec: {} };
  const form = internalForm(template, "core/v1.PodTemplateSpec") as { labels: object };
  expect(Object.keys(form)).toEqual(["labels", "Spec"]);
  expect(Object.keys(form.labels)).toEqual(["a", "b"]);
});

test("internalForm() of nothing is null", () => {
  expect(internalForm(undefined, "core/v1.Taint")).toBeNull();
  expect(internalForms(undefined, "core/v1.Taint")).toBeNull();
  expect(internalForms([{}], "rbac/v1.RoleRef")).toEqual([{ APIGroup: "", Kind: "", Name: "" }]);
});
