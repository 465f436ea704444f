import { describe, expect, test } from "bun:test";
import type { Container, EnvVar } from "../../api/types/core-v1.ts";
import { containerWarnings } from "./container-warnings.ts";

const path = "metadata.annotations";
const seccomp = "container.seccomp.security.alpha.kubernetes.io/c";
const appArmor = "container.apparmor.security.beta.kubernetes.io/c";
const annotations = { [seccomp]: "runtime/default", [appArmor]: "runtime/default" };
const around = { annotations: {}, annotationPath: path, podProfile: undefined, isTemplate: true };
const warningsOf = (container: Omit<Container, "name">, given = {}) =>
  containerWarnings({ name: "c", ...container }, "c", { ...around, ...given });

describe("profiles in annotations are warned about", () => {
  const seccompText = `${path}[${seccomp}]: non-functional in v1.27+; use the "seccompProfile" field instead`;
  const appArmorText = `${path}[${appArmor}]: deprecated since v1.30; use the "appArmorProfile" field instead`;
  const type = "RuntimeDefault";
  test.each<[string, Omit<Container, "name">, object, ...warnings: string[]]>([
    ["in a template", {}, { annotations }, seccompText, appArmorText],
    ["in a pod, where the server sets the field", {}, { annotations, isTemplate: false }, seccompText],
    ["unless the pod says the same", {}, { annotations, podProfile: { type } }, seccompText],
    [
      "unless the fields are set",
      { securityContext: { seccompProfile: { type }, appArmorProfile: { type } } },
      { annotations },
    ],
  ])("%s", (_, container, given, ...warnings) => {
    expect(warningsOf(container, given)).toEqual(warnings);
  });
});

test.each<[EnvVar[], ...warnings: string[]]>([
  [[{ name: "A" }, { name: "B" }]],
  [
    [
      { name: "A", value: "1" },
      { name: "A", value: "2" },
    ],
    'c.env[1]: hides previous definition of "A", which may be dropped when using apply',
  ],
  [
    [
      { name: "A", value: "1" },
      { name: "A", value: "$(A):2" },
    ],
  ],
])("variables %j are warned about when one hides another", (env, ...warnings) => {
  expect(warningsOf({ env })).toEqual(warnings);
});
