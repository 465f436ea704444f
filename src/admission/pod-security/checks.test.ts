import { describe, expect, test } from "bun:test";
import { violations, violationsText } from "./checks.ts";
import type { Level } from "./policy.ts";
import type { PodView } from "./violation.ts";

const latest = Number.POSITIVE_INFINITY;
const judged = (level: Level, minor: number, spec: object, annotations = {}) =>
  violationsText(violations({ level, minor }, { annotations, spec: spec as PodView["spec"] }));
const container = (securityContext: object = {}, more: object = {}, name = "c") => ({ name, securityContext, ...more });
const secure = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  capabilities: { drop: ["ALL"] },
  seccompProfile: { type: "RuntimeDefault" },
};

test("a plain pod violates restricted with the well-known message", () => {
  expect(judged("restricted", latest, { containers: [container()] })).toBe(
    'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  );
});

test("violations of baseline come before those of restricted only", () => {
  const spec = { hostNetwork: true, hostPID: true, containers: [container({ ...secure, privileged: true })] };
  expect(judged("restricted", latest, { ...spec, volumes: [{ name: "v", hostPath: {} }] })).toBe(
    'host namespaces (hostNetwork=true, hostPID=true), privileged (container "c" must not set securityContext.privileged=true), restricted volume types (volume "v" uses restricted volume type "hostPath")',
  );
});

test("a plain pod satisfies baseline, a careful one restricted, and any privileged", () => {
  expect(judged("baseline", latest, { containers: [container()] })).toBe("");
  expect(judged("restricted", latest, { containers: [container(secure)] })).toBe("");
  expect(judged("privileged", latest, { hostNetwork: true, containers: [container({ privileged: true })] })).toBe("");
});

describe("baseline", () => {
  test.each([
    [
      { containers: [container({ appArmorProfile: { type: "Unconfined" } })] },
      'forbidden AppArmor profile (container "c" must not set AppArmor profile type to "Unconfined")',
    ],
    [
      { securityContext: { appArmorProfile: { type: "Unconfined" } } },
      'forbidden AppArmor profile (pod must not set AppArmor profile type to "Unconfined")',
    ],
    [
      { containers: [container({ capabilities: { add: ["SYS_ADMIN", "NET_RAW", "CHOWN"] } })] },
      'non-default capabilities (container "c" must not include "NET_RAW", "SYS_ADMIN" in securityContext.capabilities.add)',
    ],
    [{ hostIPC: true }, "host namespaces (hostIPC=true)"],
    [
      {
        volumes: [
          { name: "a", hostPath: {} },
          { name: "b", hostPath: {} },
        ],
      },
      'hostPath volumes (volumes "a", "b")',
    ],
    [
      { containers: [container({}, { ports: [{ hostPort: 80 }, { hostPort: 443 }, {}] })] },
      'hostPort (container "c" uses hostPorts 443, 80)',
    ],
    [
      { containers: [container({}, { livenessProbe: { httpGet: { host: "127.0.0.1" } } })] },
      'probe or lifecycle host (container "c" uses probe or lifecycle host "127.0.0.1")',
    ],
    [
      { containers: [container({ privileged: true }, {}, "a"), container({ privileged: true }, {}, "b")] },
      'privileged (containers "a", "b" must not set securityContext.privileged=true)',
    ],
    [
      {
        initContainers: [container({ privileged: true }, {}, "i")],
        ephemeralContainers: [container({ privileged: true }, {}, "e")],
      },
      'privileged (containers "i", "e" must not set securityContext.privileged=true)',
    ],
    [
      { containers: [container({ procMount: "Unmasked" })] },
      'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
    ],
    [
      { securityContext: { seLinuxOptions: { type: "x", user: "u", role: "r" } } },
      'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "x"; user may not be set; role may not be set)',
    ],
    [
      { containers: [container({ seLinuxOptions: { user: "u" } })] },
      'seLinuxOptions (container "c" set forbidden securityContext.seLinuxOptions: user may not be set)',
    ],
    [
      {
        securityContext: { seccompProfile: { type: "Unconfined" } },
        containers: [container({ seccompProfile: { type: "Unconfined" } })],
      },
      'seccompProfile (pod and container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
    ],
    [
      { securityContext: { sysctls: [{ name: "kernel.msgmax" }, { name: "net.ipv4.tcp_rmem" }] } },
      "forbidden sysctls (kernel.msgmax)",
    ],
    [
      { securityContext: { windowsOptions: { hostProcess: true } } },
      "hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)",
    ],
    [{ containers: [container({ seLinuxOptions: { type: "container_engine_t" } })] }, ""],
  ])("%j: %s", (spec, text) => {
    expect(judged("baseline", latest, spec)).toBe(text);
  });

  test("annotations of AppArmor count too", () => {
    const annotations = { "container.apparmor.security.beta.kubernetes.io/c": "unconfined" };
    expect(judged("baseline", latest, { containers: [container()] }, annotations)).toBe(
      'forbidden AppArmor profile (annotation must not set AppArmor profile type to "container.apparmor.security.beta.kubernetes.io/c=\\"unconfined\\"")',
    );
  });
});

describe("restricted", () => {
  const pod = (securityContext: object, more: object = {}) => ({ containers: [container(securityContext)], ...more });
  test.each([
    [
      pod({ ...secure, runAsNonRoot: false }),
      'runAsNonRoot != true (container "c" must not set securityContext.runAsNonRoot=false)',
    ],
    [
      pod({ ...secure, runAsUser: 0 }, { securityContext: { runAsUser: 0 } }),
      'runAsUser=0 (pod and container "c" must not set runAsUser=0)',
    ],
    [pod({ ...secure, capabilities: { drop: ["ALL"], add: ["NET_BIND_SERVICE"] } }), ""],
    [
      pod({ ...secure, capabilities: { drop: ["ALL"], add: ["CHOWN"] } }),
      'unrestricted capabilities (container "c" must not include "CHOWN" in securityContext.capabilities.add)',
    ],
    [
      pod({ ...secure, capabilities: { add: ["CHOWN"] } }),
      'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]; container "c" must not include "CHOWN" in securityContext.capabilities.add)',
    ],
    [
      pod(secure, {
        volumes: [
          { name: "a", nfs: {} },
          { name: "b", emptyDir: {} },
          { name: "d", hostPath: {} },
        ],
      }),
      'restricted volume types (volumes "a", "d" use restricted volume types "hostPath", "nfs")',
    ],
    [
      pod(
        { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
        { securityContext: { runAsNonRoot: true, seccompProfile: { type: "Localhost" } } },
      ),
      "",
    ],
    [pod({ runAsNonRoot: true }, { os: { name: "windows" } }), ""],
    [pod({ ...secure, runAsNonRoot: false, runAsUser: 0 }, { hostUsers: false }), ""],
  ])("%j: %s", (spec, text) => {
    expect(judged("restricted", latest, spec)).toBe(text);
  });
});

describe("an older version has older rules", () => {
  const seccomp = { "seccomp.security.alpha.kubernetes.io/pod": "unconfined" };
  test.each([
    [
      "baseline",
      18,
      { containers: [] },
      seccomp,
      'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")',
    ],
    ["baseline", 19, { containers: [] }, seccomp, ""],
    [
      "baseline",
      26,
      { securityContext: { sysctls: [{ name: "net.ipv4.ip_local_reserved_ports" }] } },
      {},
      "forbidden sysctls (net.ipv4.ip_local_reserved_ports)",
    ],
    ["baseline", 27, { securityContext: { sysctls: [{ name: "net.ipv4.ip_local_reserved_ports" }] } }, {}, ""],
    ["baseline", 33, { containers: [container({}, { livenessProbe: { httpGet: { host: "x" } } })] }, {}, ""],
    ["restricted", 7, { containers: [container({ runAsNonRoot: true })] }, {}, ""],
    ["restricted", 21, { containers: [container({ ...secure, capabilities: {} })] }, {}, ""],
    [
      "restricted",
      24,
      { os: { name: "windows" }, containers: [container({ ...secure, allowPrivilegeEscalation: true })] },
      {},
      'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false)',
    ],
  ] as const)("%s v1.%d: %j %j", (level, minor, spec, annotations, text) => {
    expect(judged(level, minor, spec, annotations)).toBe(text);
  });
});
