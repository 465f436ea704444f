import { describe, expect, test } from "bun:test";
import type { Pod, PodSpec } from "../../../api/types/core-v1.ts";
import { kernelHostname, podHostname } from "../../pods/pod-hostname.ts";
import { podCgroup } from "./pod-cgroup.ts";
import { sandboxConfig } from "./sandbox-config.ts";

function podOf(spec: Partial<PodSpec> = {}): Pod {
  const metadata = { name: "web-0", namespace: "shop", uid: "a-b" };
  return { kind: "Pod", apiVersion: "v1", metadata, spec: { containers: [{ name: "c" }], ...spec } };
}

function configOf(pod: Pod) {
  const dns = { servers: [], searches: [], options: [] };
  return sandboxConfig(pod, {
    attempt: 1,
    hostname: "web-0",
    dns,
    logDirectory: "/logs/web",
    cgroupDriver: "cgroupfs",
  });
}

describe("a sandbox", () => {
  test("has the ports of all containers, each once", () => {
    const ports = [
      { containerPort: 80, hostPort: 8080, protocol: "TCP" },
      { containerPort: 80, hostPort: 8080, protocol: "TCP" },
      { name: "dns", containerPort: 53, protocol: "UDP", hostIP: "192.0.2.1" },
      { name: "dns", containerPort: 54 },
    ];
    const { portMappings } = configOf(podOf({ containers: [{ name: "c", ports }] }));
    expect(portMappings).toEqual([
      { protocol: 0, containerPort: 80, hostPort: 8080, hostIp: "" },
      { protocol: 1, containerPort: 53, hostPort: 0, hostIp: "192.0.2.1" },
    ]);
  });

  test("has the kernel settings and the privileges of its pod", () => {
    const securityContext = { runAsUser: 5, sysctls: [{ name: "net.core.somaxconn", value: "1024" }] };
    const containers = [{ name: "c", securityContext: { privileged: true } }];
    expect(configOf(podOf({ securityContext, containers })).linux).toMatchObject({
      cgroupParent: "/kubepods/besteffort/poda-b",
      sysctls: { "net.core.somaxconn": "1024" },
      securityContext: { runAsUser: { value: 5 }, privileged: true, seccomp: { profileType: 0 } },
    });
  });
});

describe("control groups", () => {
  const burstable = podOf({ containers: [{ name: "c", resources: { requests: { cpu: "1" } } }] });
  const resources = { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "1", memory: "1Gi" } };
  const guaranteed = podOf({ containers: [{ name: "c", resources }] });

  test("lie in folders by class of service", () => {
    expect(podCgroup(burstable, "cgroupfs")).toBe("/kubepods/burstable/poda-b");
    expect(podCgroup(guaranteed, "cgroupfs")).toBe("/kubepods/poda-b");
  });

  test("are slices under systemd", () => {
    expect(podCgroup(burstable, "systemd")).toBe(
      "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-poda_b.slice",
    );
    expect(podCgroup(guaranteed, "systemd")).toBe("/kubepods.slice/kubepods-poda_b.slice");
  });
});

describe("the name of a pod on its network", () => {
  const nameOf = (spec: Partial<PodSpec>, name = "web-0") => {
    const pod = podOf(spec);
    return podHostname({ ...pod, metadata: { ...pod.metadata, name } }, "cluster.local");
  };

  test("is the pod's, or the one of the spec", () => {
    expect(nameOf({})).toEqual({ name: "web-0", domain: "" });
    expect(nameOf({ hostname: "one", subdomain: "db" })).toEqual({ name: "one", domain: "db.shop.svc.cluster.local" });
    expect(nameOf({ hostnameOverride: "node.example.com", subdomain: "db" })).toEqual({
      name: "node.example.com",
      domain: "",
    });
    expect(() => nameOf({ hostname: "Not valid" })).toThrow('pod Hostname "Not valid" is not a valid DNS label');
  });

  test("is cut where the cut leaves a valid name", () => {
    expect(nameOf({}, `${"a".repeat(61)}-.b`).name).toBe("a".repeat(61));
  });

  test("is the full one for the kernel if the spec asks for it and it fits", () => {
    const pod = podOf({ setHostnameAsFQDN: true });
    expect(kernelHostname(pod, { name: "one", domain: "db.shop.svc.cluster.local" })).toBe(
      "one.db.shop.svc.cluster.local",
    );
    expect(kernelHostname(podOf(), { name: "one", domain: "db" })).toBe("one");
    expect(() => kernelHostname(pod, { name: "one", domain: "x".repeat(61) })).toThrow(
      "is too long (64 characters is the max, 65 characters requested)",
    );
  });
});
