import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FlagOptions } from "./flags.ts";
import { simulatedNodesOf } from "./simulated-nodes.ts";

function withFile<T>(text: string, use: (file: string) => T): T {
  const directory = mkdtempSync(join(tmpdir(), "quorate-rules-"));
  try {
    const file = join(directory, "rules.yaml");
    writeFileSync(file, text);
    return use(file);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

describe("simulated nodes", () => {
  test("are none by default", () => {
    expect(simulatedNodesOf({})).toBeUndefined();
  });

  test("have names, a size and a seed", () => {
    const config = simulatedNodesOf({ nodes: 2, simulatedNodeCapacity: ["cpu=64", "example.com/gpu=4", "pods=20"] });
    expect(config).toMatchObject({
      names: ["node-1", "node-2"],
      capacity: { cpu: "64", memory: "32Gi", "ephemeral-storage": "100Gi", "example.com/gpu": "4" },
      podsMax: 20,
    });
    expect(config?.seed).toBeGreaterThan(0);
    expect(simulatedNodesOf({ nodes: 1, simulationSeed: 7 })?.seed).toBe(7);
  });

  test("follow rules from a file", () => {
    const rules = withFile("rules: [{exit: never}]", (simulationRules) =>
      simulatedNodesOf({ nodes: 1, simulationRules }),
    );
    expect(rules?.rules.containers).toHaveLength(1);
  });

  test.each([
    [{ simulationRules: "f" }, "--simulation-rules needs simulated nodes: add --nodes 1 or more"],
    [{ nodes: 1, peerAddress: "a:1" }, "--nodes is for a server without replicas"],
    [{ nodes: 1, simulatedNodeCapacity: ["cpu"] }, '--simulated-node-capacity: "cpu" is not an amount of a resource'],
    [{ nodes: 1, simulatedNodeCapacity: ["cpu=x"] }, '--simulated-node-capacity: "cpu=x" is not an amount'],
    [{ nodes: 1, simulatedNodeCapacity: ["cpu=-1"] }, '--simulated-node-capacity: "cpu=-1" is not an amount'],
    [{ nodes: 1, simulatedNodeCapacity: ["pods=1k"] }, '--simulated-node-capacity: "pods=1k" is not an amount'],
    [{ nodes: 1, simulationRules: "/none" }, "--simulation-rules: /none: ENOENT"],
  ] satisfies [FlagOptions, string][])("are refused with %p", (options, message) => {
    expect(() => simulatedNodesOf(options)).toThrow(message);
  });

  test("are refused with rules that cannot be read", () => {
    const message = "rules.yaml: rules[0].exit.after: Invalid value";
    withFile("rules: [{exit: {after: x}}]", (simulationRules) => {
      expect(() => simulatedNodesOf({ nodes: 1, simulationRules })).toThrow(message);
    });
  });
});
