import type { Container, Pod } from "../../../api/types/core-v1.ts";

/** Labels of sandboxes and containers, by which tools such as crictl find them. */
export const labelNames = {
  podName: "io.kubernetes.pod.name",
  podNamespace: "io.kubernetes.pod.namespace",
  podUid: "io.kubernetes.pod.uid",
  containerName: "io.kubernetes.container.name",
} as const;

/** Annotations of containers. The agent reads them back after a restart. */
export const annotationNames = {
  restartCount: "io.kubernetes.container.restartCount",
  terminationMessagePath: "io.kubernetes.container.terminationMessagePath",
  terminationMessagePolicy: "io.kubernetes.container.terminationMessagePolicy",
  preStopHandler: "io.kubernetes.container.preStopHandler",
  ports: "io.kubernetes.container.ports",
  podDeletionGracePeriod: "io.kubernetes.pod.deletionGracePeriod",
  podTerminationGracePeriod: "io.kubernetes.pod.terminationGracePeriod",
} as const;

function identityOf({ metadata }: Pod): Record<string, string> {
  return {
    [labelNames.podName]: metadata.name ?? "",
    [labelNames.podNamespace]: metadata.namespace ?? "",
    [labelNames.podUid]: metadata.uid ?? "",
  };
}

export function sandboxLabels(pod: Pod): Record<string, string> {
  return { ...pod.metadata.labels, ...identityOf(pod) };
}

export function containerLabels(pod: Pod, { name }: Container): Record<string, string> {
  return { ...identityOf(pod), [labelNames.containerName]: name };
}

export function containerAnnotations(pod: Pod, container: Container, attempt: number): Record<string, string> {
  const { deletionGracePeriodSeconds } = pod.metadata;
  const { terminationGracePeriodSeconds } = pod.spec ?? {};
  const { lifecycle, ports = [] } = container;
  return {
    [annotationNames.restartCount]: String(attempt),
    [annotationNames.terminationMessagePath]: container.terminationMessagePath ?? "",
    [annotationNames.terminationMessagePolicy]: container.terminationMessagePolicy ?? "",
    ...(deletionGracePeriodSeconds === undefined
      ? {}
      : { [annotationNames.podDeletionGracePeriod]: String(deletionGracePeriodSeconds) }),
    ...(terminationGracePeriodSeconds === undefined
      ? {}
      : { [annotationNames.podTerminationGracePeriod]: String(terminationGracePeriodSeconds) }),
    ...(lifecycle?.preStop === undefined
      ? {}
      : { [annotationNames.preStopHandler]: JSON.stringify(lifecycle.preStop) }),
    ...(ports.length === 0 ? {} : { [annotationNames.ports]: JSON.stringify(ports) }),
  };
}
