import { describe, expect, test } from "bun:test";
import type { PodSecurityContext, PodSpec, SecurityContext } from "../../../api/types/core-v1.ts";
import { containerSecurity, groupsOf, type ImageUser, namespaceOptions } from "./security-context.ts";

const options = { seccompRoot: "/var/lib/kubelet/seccomp", seccompDefault: false };
const root: ImageUser = { uid: 0, name: "" };

function podOf(securityContext: PodSecurityContext, spec: Partial<PodSpec> = {}) {
  const metadata = { name: "p", namespace: "ns", uid: "u" };
  return { kind: "Pod", apiVersion: "v1", metadata, spec: { containers: [], securityContext, ...spec } };
}

function contextOf(own: SecurityContext, ofPod: PodSecurityContext = {}, user = root, given = options) {
  return containerSecurity(podOf(ofPod), { name: "c", securityContext: own }, user, given);
}

describe("users and groups", () => {
  test("come from the container, the pod and the image, in this order", () => {
    expect(contextOf({ runAsUser: 5 }, { runAsUser: 6, runAsGroup: 7 })).toMatchObject({
      runAsUser: { value: 5 },
      runAsGroup: { value: 7 },
    });
    expect(contextOf({}, { runAsUser: 6 }).runAsUser).toEqual({ value: 6 });
    expect(contextOf({}).runAsUser).toEqual({ value: 0 });
    expect(contextOf({}, {}, { uid: undefined, name: "web" })).toMatchObject({ runAsUsername: "web" });
    expect(contextOf({}, {}, { uid: undefined, name: "web" }).runAsUser).toBeUndefined();
  });

  test("include the groups of the pod, that of its volumes first", () => {
    const groups = groupsOf(podOf({ fsGroup: 9, supplementalGroups: [1, 2], supplementalGroupsPolicy: "Strict" }));
    expect(groups).toEqual({ supplementalGroups: [9, 1, 2], supplementalGroupsPolicy: 1 });
  });

  test("that are root are refused where they must not be", () => {
    const where = '(pod: "p_ns(u)", container: c)';
    const refusal = (own: SecurityContext, user: ImageUser) => () => contextOf(own, { runAsNonRoot: true }, user);
    expect(refusal({ runAsUser: 0 }, root)).toThrow(`container's runAsUser breaks non-root policy ${where}`);
    expect(refusal({}, root)).toThrow(`container has runAsNonRoot and image will run as root ${where}`);
    expect(refusal({}, { uid: undefined, name: "web" })).toThrow(
      `container has runAsNonRoot and image has non-numeric user (web), cannot verify user is non-root ${where}`,
    );
    expect(refusal({}, { uid: 2 ** 31, name: "" })).toThrow("image has an invalid user id (2147483648).");
    expect(refusal({ runAsUser: 7 }, root)).not.toThrow();
    expect(refusal({}, { uid: 7, name: "" })).not.toThrow();
  });
});

describe("privileges", () => {
  test("are as the container asks", () => {
    const own = {
      privileged: true,
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { add: ["NET_ADMIN"], drop: ["ALL"] },
    };
    expect(contextOf(own)).toMatchObject({
      privileged: true,
      readonlyRootfs: true,
      noNewPrivs: true,
      capabilities: { addCapabilities: ["NET_ADMIN"], dropCapabilities: ["ALL"] },
    });
    expect(contextOf({})).toMatchObject({ privileged: false, readonlyRootfs: false, noNewPrivs: false });
  });

  test("hide the host's /proc unless it is asked for", () => {
    expect(contextOf({}).maskedPaths).toContain("/proc/kcore");
    expect(contextOf({}).readonlyPaths).toContain("/proc/sys");
    expect(contextOf({ procMount: "Unmasked" })).toMatchObject({ maskedPaths: [], readonlyPaths: [] });
  });

  test("are narrowed by seccomp profiles", () => {
    const profileOf = (own: SecurityContext, seccompDefault = false) =>
      contextOf(own, {}, root, { ...options, seccompDefault }).seccomp;
    expect(profileOf({})).toEqual({ profileType: 1 });
    expect(profileOf({}, true)).toEqual({ profileType: 0 });
    expect(profileOf({ seccompProfile: { type: "RuntimeDefault" } })).toEqual({ profileType: 0 });
    expect(profileOf({ seccompProfile: { type: "Localhost", localhostProfile: "web.json" } })).toEqual({
      profileType: 2,
      localhostRef: "/var/lib/kubelet/seccomp/web.json",
    });
    expect(() => profileOf({ seccompProfile: { type: "Localhost" } })).toThrow("localhostProfile must be set");
    expect(contextOf({}, { seccompProfile: { type: "RuntimeDefault" } }).seccomp).toEqual({ profileType: 0 });
  });

  test("are narrowed by AppArmor profiles, in both forms", () => {
    const profileOf = (type: string, localhostProfile?: string) =>
      contextOf({ appArmorProfile: { type, ...(localhostProfile === undefined ? {} : { localhostProfile }) } });
    expect(profileOf("RuntimeDefault")).toMatchObject({
      apparmor: { profileType: 0 },
      apparmorProfile: "runtime/default",
    });
    expect(profileOf("Localhost", "web")).toMatchObject({
      apparmor: { profileType: 2, localhostRef: "web" },
      apparmorProfile: "localhost/web",
    });
    expect(() => profileOf("Localhost")).toThrow("missing localhost apparmor profile name");
  });
});

test("namespaces are the container's, the pod's or the node's", () => {
  expect(namespaceOptions(podOf({}))).toEqual({ network: 0, ipc: 0, pid: 1 });
  expect(namespaceOptions(podOf({}, { shareProcessNamespace: true }))).toEqual({ network: 0, ipc: 0, pid: 0 });
  const onHost = podOf({}, { hostNetwork: true, hostIPC: true, hostPID: true });
  expect(namespaceOptions(onHost)).toEqual({ network: 2, ipc: 2, pid: 2 });
});
