import { readFileSync } from "node:fs";
import { parseRules } from "../../agent/runtime/simulated/parse-rules.ts";
import { noRules, type SimulationRules } from "../../agent/runtime/simulated/rules.ts";
import { compareQuantities, parseQuantity } from "../../api/quantity.ts";
import type { ResourceList } from "../../api/types/core-v1.ts";
import { orStartupError } from "../../process/or-startup-error.ts";
import { StartupError } from "../../process/startup-error.ts";
import type { FlagOptions } from "./flags.ts";
import { simulatedNodeFlags } from "./simulated-node-flags.ts";

/** The nodes that a server simulates. */
export interface SimulatedNodesConfig {
  readonly names: readonly string[];
  readonly capacity: ResourceList;
  readonly podsMax: number;
  readonly rules: SimulationRules;
  readonly seed: number;
}

const resourceName = /^[a-z][a-z0-9./-]{0,316}$/;
const seedMax = 2_147_483_647;

/**
 * Returns the nodes to simulate; undefined if there are none.
 * @throws StartupError that names the flag, the mistake and the remedy
 */
export function simulatedNodesOf(
  options: FlagOptions & { readonly peerAddress?: string | undefined },
): SimulatedNodesConfig | undefined {
  const count = options.nodes ?? simulatedNodeFlags.nodes.default;
  if (count === 0) {
    if (options.simulationRules === undefined) return undefined;
    throw new StartupError("--simulation-rules needs simulated nodes: add --nodes 1 or more");
  }
  if (options.peerAddress !== undefined) {
    throw new StartupError("--nodes is for a server without replicas: leave out --peer-address or --nodes");
  }
  const { pods = "110", ...capacity } = capacityOf(options.simulatedNodeCapacity ?? []);
  return {
    names: Array.from({ length: count }, (_, at) => `node-${at + 1}`),
    capacity,
    podsMax: Number(pods),
    rules: rulesIn(options.simulationRules),
    // The seed is printed, so any one can be used again.
    seed: options.simulationSeed || 1 + Math.floor(Math.random() * seedMax),
  };
}

function capacityOf(given: readonly string[]): Record<string, string> {
  const pairs = [...simulatedNodeFlags["simulated-node-capacity"].default, ...given].map((pair) => {
    const at = pair.indexOf("=");
    const [name, quantity] = [pair.slice(0, at), pair.slice(at + 1)];
    if (at !== -1 && resourceName.test(name) && isAmount(name, quantity)) return [name, quantity] as const;
    const example = "give pairs such as cpu=8,memory=32Gi,pods=110";
    throw new StartupError(
      `--simulated-node-capacity: ${JSON.stringify(pair)} is not an amount of a resource: ${example}`,
    );
  });
  return Object.fromEntries(pairs);
}

function isAmount(name: string, text: string): boolean {
  if (name === "pods") return /^[0-9]{1,5}$/.test(text);
  try {
    return compareQuantities(parseQuantity(text), parseQuantity("0")) >= 0;
  } catch {
    return false;
  }
}

function rulesIn(file: string | undefined): SimulationRules {
  if (file === undefined) return noRules;
  return orStartupError(`--simulation-rules: ${file}`, () => parseRules(readFileSync(file)));
}
