import { relative } from "node:path";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { ContainerConfig } from "../runtime.ts";
import { mountPropagations, namespaceModes, signalNumbers } from "./enums.ts";
import { containerAnnotations, containerLabels } from "./labels.ts";
import { containerResources } from "./linux-resources.ts";
import type { Draft } from "./messages.ts";
import { containerSecurity, type ImageUser, type SecurityOptions } from "./security-context.ts";

export interface ContainerOptions {
  readonly user: ImageUser;
  readonly security: SecurityOptions;
  /** Directory of the pod's logs. */
  readonly logDirectory: string;
  readonly machineMemoryBytes: number;
  /** Files that the agent keeps for the container besides the pod's volumes. */
  readonly extraMounts: readonly Draft<"Mount">[];
  /** Container whose processes this one sees, if it is an ephemeral one with a target. */
  readonly targetId: string | undefined;
}

/** @throws RuntimeError for a container that may not run like this */
export function containerConfig(
  pod: Pod,
  config: ContainerConfig,
  { user, security, logDirectory, machineMemoryBytes, extraMounts, targetId }: ContainerOptions,
): Draft<"ContainerConfig"> {
  const { spec, attempt, imageRef, command = [], args = [], environment, mounts, logPath } = config;
  const context = containerSecurity(pod, spec, user, security);
  const { pid } = context.namespaceOptions ?? {};
  const stopSignal = signalNumbers.get(spec.lifecycle?.stopSignal ?? "");
  return {
    metadata: { name: spec.name, attempt },
    image: { image: imageRef, userSpecifiedImage: spec.image ?? "" },
    command,
    args,
    workingDir: spec.workingDir ?? "",
    envs: environment.map(([key, value]) => ({ key, value: Buffer.from(value) })),
    mounts: [
      ...mounts.map(({ hostPath, containerPath, isReadOnly, propagation }) => ({
        hostPath,
        containerPath,
        readonly: isReadOnly,
        propagation: mountPropagations[propagation],
      })),
      ...extraMounts,
    ],
    labels: containerLabels(pod, spec),
    annotations: containerAnnotations(pod, spec, attempt),
    logPath: relative(logDirectory, logPath),
    stdin: spec.stdin ?? false,
    stdinOnce: spec.stdinOnce ?? false,
    tty: spec.tty ?? false,
    ...(stopSignal === undefined ? {} : { stopSignal }),
    linux: {
      resources: containerResources(pod, spec, machineMemoryBytes),
      securityContext:
        targetId !== undefined && pid === namespaceModes.container
          ? { ...context, namespaceOptions: { ...context.namespaceOptions, pid: namespaceModes.target, targetId } }
          : context,
    },
  };
}
