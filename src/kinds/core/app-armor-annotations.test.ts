import { expect, test } from "bun:test";
import type { Pod } from "../../api/types/core-v1.ts";
import { adoptAppArmorAnnotations } from "./app-armor-annotations.ts";

const prefix = "container.apparmor.security.beta.kubernetes.io/";

/** Returns the profile that the container gets from an annotation, and whether the client is warned. */
function adopted(annotation: string, spec: Partial<NonNullable<Pod["spec"]>> = {}) {
  const warnings: string[] = [];
  const containers = [{ name: "web", image: "example.com/web:1" }];
  const pod: Pod = {
    kind: "Pod",
    apiVersion: "v1",
    metadata: { annotations: { [`${prefix}web`]: annotation } },
    spec: { containers, ...spec },
  };
  adoptAppArmorAnnotations(pod, (text) => warnings.push(text));
  const [container] = pod.spec?.containers ?? [];
  return { profile: container?.securityContext?.appArmorProfile, warnings };
}

const warnings = [
  `metadata.annotations[${prefix}web]: deprecated since v1.30; use the "appArmorProfile" field instead`,
];

test.each([
  ["unconfined", { type: "Unconfined" }],
  ["runtime/default", { type: "RuntimeDefault" }],
  ["localhost/strict", { type: "Localhost", localhostProfile: "strict" }],
  ["localhost/", undefined],
  ["something", undefined],
])("%s gives the profile %j", (annotation, profile) => {
  expect(adopted(annotation)).toEqual({ profile, warnings } as never);
});

test("the profile of the pod is not repeated in its containers", () => {
  const securityContext = { appArmorProfile: { type: "Unconfined" } };
  expect(adopted("unconfined", { securityContext })).toEqual({ profile: undefined, warnings: [] });
});

test("a container keeps its own profile", () => {
  const appArmorProfile = { type: "RuntimeDefault" };
  const containers = [{ name: "web", image: "example.com/web:1", securityContext: { appArmorProfile } }];
  expect(adopted("unconfined", { containers })).toEqual({ profile: appArmorProfile, warnings: [] });
});

test("Windows has no such profiles", () => {
  expect(adopted("unconfined", { os: { name: "windows" } })).toEqual({ profile: undefined, warnings: [] });
});
