import type { Flag } from "./flag.ts";

const group = "Simulated nodes";

/** Flags of the nodes that a server simulates. */
export const simulatedNodeFlags = {
  nodes: {
    type: "integer",
    default: 0,
    min: 0,
    max: 5_000,
    group,
    value: "n",
    help: "nodes to simulate in this process; their pods run without processes",
  },
  "simulation-rules": {
    type: "text",
    group,
    value: "file",
    help: "YAML or JSON file that says when simulated containers start, become ready and end",
  },
  "simulation-seed": {
    type: "integer",
    default: 0,
    min: 0,
    max: 2_147_483_647,
    group,
    value: "n",
    help: "seed of the random numbers of the simulation; 0 for any",
  },
  "simulated-node-capacity": {
    type: "texts",
    default: ["cpu=8", "memory=32Gi", "ephemeral-storage=100Gi", "pods=110"],
    group,
    value: "resource=quantity,…",
    help: "resources of a simulated node; what is not named keeps its default",
  },
} as const satisfies Record<string, Flag>;
