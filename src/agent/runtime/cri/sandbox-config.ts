import type { Container, ContainerPort, Pod } from "../../../api/types/core-v1.ts";
import { profileTypes, protocols } from "./enums.ts";
import { sandboxLabels } from "./labels.ts";
import { linuxResources, podResources } from "./linux-resources.ts";
import type { Draft } from "./messages.ts";
import { type CgroupDriver, podCgroup } from "./pod-cgroup.ts";
import { groupsOf, namespaceOptions } from "./security-context.ts";

export interface SandboxOptions {
  readonly attempt: number;
  readonly hostname: string;
  readonly dns: Draft<"DNSConfig">;
  /** Directory of the pod's logs. */
  readonly logDirectory: string;
  /** Undefined to leave the choice of a control group to the runtime. */
  readonly cgroupDriver: CgroupDriver | undefined;
}

export function sandboxConfig(pod: Pod, options: SandboxOptions): Draft<"PodSandboxConfig"> {
  const { metadata, spec } = pod;
  const { attempt, hostname, dns, logDirectory, cgroupDriver } = options;
  const { containers, initContainers = [], securityContext = {}, overhead } = spec ?? { containers: null };
  const { runAsUser, runAsGroup, seLinuxOptions, sysctls = [] } = securityContext;
  const all = [...initContainers, ...(containers ?? [])];
  return {
    metadata: { name: metadata.name ?? "", namespace: metadata.namespace ?? "", uid: metadata.uid ?? "", attempt },
    hostname,
    logDirectory,
    dnsConfig: dns,
    portMappings: all.flatMap(portMappings),
    labels: sandboxLabels(pod),
    annotations: metadata.annotations ?? {},
    linux: {
      cgroupParent: cgroupDriver === undefined ? "" : podCgroup(pod, cgroupDriver),
      securityContext: {
        namespaceOptions: namespaceOptions(pod),
        selinuxOptions: seLinuxOptions,
        ...(runAsUser === undefined ? {} : { runAsUser: { value: Number(runAsUser) } }),
        ...(runAsGroup === undefined ? {} : { runAsGroup: { value: Number(runAsGroup) } }),
        ...groupsOf(pod),
        privileged: all.some(({ securityContext: own }) => own?.privileged === true),
        // The process that holds the namespaces needs no more, whatever the containers may do.
        seccomp: { profileType: profileTypes.runtimeDefault },
      },
      sysctls: Object.fromEntries(sysctls.map(({ name, value }) => [name, value])),
      ...(overhead === undefined ? {} : { overhead: linuxResources({ requests: overhead, limits: overhead }) }),
      resources: podResources(pod),
    },
  };
}

/** Returns the ports of a container, each once. A port that repeats the name of another one does not count. */
function portMappings({ ports = [] }: Container): Draft<"PortMapping">[] {
  const byName = new Map<string, ContainerPort>();
  for (const port of ports) {
    const { name = "", protocol = "TCP", hostIP = "", containerPort, hostPort = 0 } = port;
    const key = name === "" ? `${protocol}-${hostIP}:${containerPort}:${hostPort}` : name;
    if (!byName.has(key)) byName.set(key, port);
  }
  return [...byName.values()].map(({ protocol = "TCP", containerPort, hostPort = 0, hostIP = "" }) => ({
    protocol: protocols.get(protocol) ?? 0,
    containerPort,
    hostPort,
    hostIp: hostIP,
  }));
}
