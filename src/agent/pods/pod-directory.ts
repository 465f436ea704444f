import type { Pod } from "../../api/types/core-v1.ts";
import type { Runtime, RuntimeContainer, Sandbox } from "../runtime/runtime.ts";
import type { ProbeCount } from "./probes/probe-count.ts";

/** A pod that the agent knows, with its current place in the runtime. */
export interface KnownPod {
  /** The pod with the agent's own view of its status. */
  readonly pod: Pod;
  readonly runtime: Runtime;
  /** Undefined while the pod has none. */
  readonly sandbox: Sandbox | undefined;
  /** Every run of a container that the runtime still knows, oldest first. */
  readonly containers: readonly RuntimeContainer[];
  /** Results of its probes. */
  readonly probes: Iterable<ProbeCount>;
}

/** The pods of all nodes of this agent, as its HTTPS endpoint asks for them. */
export interface PodDirectory {
  pods(): readonly KnownPod[];
  find(namespace: string, name: string): KnownPod | undefined;
}
