import { expect, test } from "bun:test";
import type { JsonObject } from "../../api/json.ts";
import { builtInCatalog } from "../../kinds/built-in-catalog.ts";
import { Scheme } from "../../kinds/scheme.ts";
import { settlePatchedType } from "./patched-type.ts";

const scheme = Scheme.builtIn();
const known = builtInCatalog(scheme);

/** Returns the type that a patched Deployment ends up with, or why it is refused. */
function settled(document: JsonObject): string {
  const info = scheme.find("apps", "v1", "deployments");
  if (info === undefined) throw new Error("deployments are not served");
  const merged: JsonObject = { metadata: { name: "d" }, ...document };
  try {
    settlePatchedType(merged, { info, name: "d", known, refusal: (why) => new Error(why) });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return `${String(merged["apiVersion"])} ${String(merged["kind"])}`;
}

const scheme111 = 'in scheme "pkg/runtime/scheme.go:111"';
const nameless = "the name of the object (d based on URL) was undeterminable: name must be provided";

test.each<[apiVersion: string, kind: string, outcome: string]>([
  ["apps/v1", "Deployment", "apps/v1 Deployment"],
  ["apps/v1", "", "apps/v1 Deployment"],
  ["apps/v1beta2", "Deployment", "apps/v1 Deployment"],
  ["extensions/v1beta1", "", "apps/v1 Deployment"],
  ["", "", nameless],
  ["", "Deployment", nameless],
  ["", "ReplicaSet", "converting (apps.ReplicaSet) to (apps.Deployment): unknown conversion"],
  ["", "Pod", `no kind "Pod" is registered for the internal version of group "apps" ${scheme111}`],
  ["v1", "Pod", "converting (v1.Pod) to (apps.Deployment): unknown conversion"],
  ["apps/v1", "DeploymentList", "converting (v1.DeploymentList) to (apps.Deployment): unknown conversion"],
  ["batch/v1beta1", "DeleteOptions", "converting (v1.DeleteOptions) to (apps.Deployment): unknown conversion"],
  ["batch/v1beta1", "CronJob", "converting (v1beta1.CronJob) to (apps.Deployment): unknown conversion"],
  ["none/v1", "Status", "converting (v1.Status) to (apps.Deployment): unknown conversion"],
  ["v9", "Deployment", `no kind "Deployment" is registered for version "v9" ${scheme111}`],
  ["a/b/c", "Deployment", "unexpected GroupVersion string: a/b/c"],
])("a patch to %p %p ends as %s", (apiVersion, kind, outcome) => {
  expect(settled({ apiVersion, kind })).toBe(outcome);
});

test("a patch may remove the type", () => {
  expect(settled({ apiVersion: "apps/v1" })).toBe("apps/v1 undefined");
});

test("a document that cannot be read as its new kind says so first", () => {
  expect(settled({ apiVersion: "v1", kind: "Status", status: { replicas: 1 } })).toBe(
    "json: cannot unmarshal object into Go struct field Status.status of type string",
  );
  expect(settled({ apiVersion: "apps/v1beta1", kind: "Scale", status: { selector: "a=b" } })).toBe(
    "json: cannot unmarshal string into Go struct field ScaleStatus.status.selector of type map[string]string",
  );
});
