import { join } from "node:path";
import type { Node } from "../api/types/core-v1.ts";
import type { Client } from "../client/client.ts";
import type { Clock } from "../process/clock.ts";
import type { AgentOptions } from "./agent-options.ts";
import { NodeFiles } from "./files/node-files.ts";
import type { PodFiles } from "./pods/pod-files.ts";
import { ProcessRuntime } from "./runtime/process/process-runtime.ts";
import type { Runtime } from "./runtime/runtime.ts";
import { SimulatedRuntime } from "./runtime/simulated/simulated-runtime.ts";
import { Simulation } from "./runtime/simulated/simulation.ts";
import { SimulatedFiles } from "./simulated-nodes/simulated-files.ts";

export interface RuntimeParts {
  readonly options: AgentOptions;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly node: () => Node | undefined;
  readonly hostIps: () => readonly string[];
  readonly onError: (error: unknown) => void;
}

export interface OpenedRuntime {
  readonly runtime: Runtime;
  readonly files: PodFiles;
}

/** Opens the chosen runtime, and the files of its pods. `into` closes them. */
export async function openRuntime(parts: RuntimeParts, into: AsyncDisposableStack): Promise<OpenedRuntime> {
  const { options, clock, node, hostIps } = parts;
  const { rootDirectory, logDirectory, runtime: choice } = options;
  if (choice.kind === "simulated") {
    const seed = Math.floor(parts.random() * 2 ** 32);
    const simulation = into.use(new Simulation({ clock, seed }));
    const podRanges = () => node()?.spec?.podCIDRs ?? [];
    return {
      runtime: into.use(new SimulatedRuntime({ simulation, podRanges })),
      files: into.use(new SimulatedFiles(parts)).ofNode(node, hostIps),
    };
  }
  const files = into.use(await NodeFiles.open({ ...parts, rootDirectory, clusterDomain: options.dns.domain }));
  if (choice.kind === "cri") {
    // gRPC costs memory, which other agents need not pay.
    const { openCriRuntime } = await import("./runtime/cri/open-cri-runtime.ts");
    const { dns } = options;
    return {
      runtime: into.use(await openCriRuntime({ ...parts, ...choice, rootDirectory, logDirectory, dns })),
      files,
    };
  }
  const folder = join(rootDirectory, "containers");
  return { runtime: into.use(await ProcessRuntime.open({ folder, logDirectory, clock })), files };
}
