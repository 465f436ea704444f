import { describe, expect, test } from "bun:test";
import { Command } from "commander";
import type { Terminal } from "../terminal.ts";
import type { AgentFlagValues } from "./agent-flags.ts";
import { type AgentCommands, addAgentCommands } from "./commands.ts";
import { toAgentOptions } from "./to-agent-options.ts";

const quiet: Terminal = {
  print() {},
  complain() {},
  onStopSignal: () => ({ [Symbol.dispose]() {} }),
  onUncaught: () => ({ [Symbol.dispose]() {} }),
  exit() {},
};

async function called(...args: string[]): Promise<readonly unknown[]> {
  const calls: unknown[][] = [];
  const note = (_: object, name: string) => {
    return async (...given: unknown[]) => {
      calls.push([name, ...given]);
      return 0;
    };
  };
  const program = new Command("quorate")
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeErr() {} });
  addAgentCommands(program, new Proxy({}, { get: note as never }) as AgentCommands, quiet, () => {});
  await program.parseAsync(["agent", ...args], { from: "user" });
  return calls[0] ?? [];
}

const optionsOf = async (...args: string[]) => toAgentOptions((await called(...args))[1] as AgentFlagValues);

describe("the flags of an agent", () => {
  test("have upstream's defaults", async () => {
    const { node, endpoint, runtime, manifestPath, eviction } = await optionsOf(
      "--root-dir=/r",
      "--hostname-override=Node-1",
    );
    expect(node).toMatchObject({
      name: "node-1",
      hostname: "node-1",
      registers: true,
      podsMax: 110,
      statusUpdateMs: 10_000,
      statusReportMs: 300_000,
      leaseDurationSeconds: 40,
    });
    expect(eviction).toMatchObject({ transitionMs: 300_000, podGraceSecondsMax: 0 });
    expect(eviction.limits.map(({ signal, graceMs }) => [signal, graceMs])).toEqual([
      ["memory.available", 0],
      ["nodefs.available", 0],
      ["nodefs.inodesFree", 0],
      ["imagefs.available", 0],
      ["imagefs.inodesFree", 0],
    ]);
    expect(endpoint).toMatchObject({
      port: 10_250,
      certificate: { kind: "own" },
      anonymous: false,
      tokenWebhook: true,
      authorizationMode: "Webhook",
    });
    expect([runtime, manifestPath]).toEqual([{ kind: "process" }, undefined]);
  });

  test("are shown as text, with those that were not given", async () => {
    const { flagTexts } = await optionsOf(
      "--node-labels=a=b,topology.kubernetes.io/zone=c,x.node.kubernetes.io/y=d",
      "--eviction-pressure-transition-period=90s",
      "-v",
      "2",
    );
    expect(Object.fromEntries(flagTexts)).toMatchObject({
      "node-labels": "a=b,topology.kubernetes.io/zone=c,x.node.kubernetes.io/y=d",
      "eviction-pressure-transition-period": "1m30s",
      "authorization-mode": "Webhook",
      "register-node": "true",
      "cluster-dns": "",
      "max-pods": "110",
      v: "2",
    });
  });

  test("set soft limits with their grace periods", async () => {
    const { eviction } = await optionsOf(
      "--eviction-hard=memory.available<0%",
      "--eviction-soft=memory.available<1.5Gi",
      "--eviction-soft-grace-period=memory.available=1m30s",
      "--eviction-minimum-reclaim=memory.available=10%",
      "--eviction-max-pod-grace-period=60",
    );
    expect(eviction).toEqual({
      limits: [
        {
          signal: "memory.available",
          threshold: { kind: "amount", amount: 1.5 * 2 ** 30 },
          graceMs: 90_000,
          reclaim: { kind: "fraction", fraction: 0.1 },
        },
      ],
      transitionMs: 300_000,
      podGraceSecondsMax: 60,
    });
  });

  test("place everything below the root directory", async () => {
    expect(await optionsOf("--root-dir=/r")).toMatchObject({
      kubeconfig: "/r/kubeconfig",
      rootDirectory: "/r",
      certificateDirectory: "/r/pki",
      logDirectory: "/r/pod-logs",
    });
  });

  test("describe the node", async () => {
    const flags = [
      "--node-labels=team=x,example.com/rack=7",
      "--register-with-taints=a=b:NoSchedule,c:NoExecute",
      "--kube-reserved=cpu=500m,memory=1Gi",
      "--system-reserved=cpu=1",
      "--node-ip=10.0.0.5,fd00::5",
      "--max-pods=20",
    ];
    expect((await optionsOf(...flags)).node).toMatchObject({
      labels: { team: "x", "example.com/rack": "7" },
      taints: [
        { key: "a", value: "b", effect: "NoSchedule" },
        { key: "c", effect: "NoExecute" },
      ],
      reserved: { cpu: "1500m", memory: "1Gi" },
      addresses: ["10.0.0.5", "fd00::5"],
      podsMax: 20,
    });
  });

  test("open the ports without TLS, or turn them off", async () => {
    const { healthAddress, readOnlyAddress } = (await optionsOf()).endpoint;
    expect([healthAddress, readOnlyAddress]).toEqual([{ host: "127.0.0.1", port: 10_248 }, undefined]);
    const flags = ["--address=10.0.0.5", "--healthz-bind-address=::1", "--healthz-port=1", "--read-only-port=10255"];
    expect((await optionsOf(...flags)).endpoint).toMatchObject({
      healthAddress: { host: "::1", port: 1 },
      readOnlyAddress: { host: "10.0.0.5", port: 10_255 },
    });
    expect((await optionsOf("--healthz-port=0")).endpoint.healthAddress).toBeUndefined();
  });

  test("report as often as they check, if only the checks have an interval", async () => {
    expect((await optionsOf("--node-status-update-frequency=20s")).node.statusReportMs).toBe(20_000);
  });

  test("belong to the subcommand that they follow", async () => {
    const [name, flags, join] = await called(
      "join",
      "https://10.0.0.1:6443",
      "--token=abcdef.0123456789abcdef",
      "--root-dir=/joined",
      "-v",
      "2",
    );
    expect([name, flags]).toEqual(["join", { "root-dir": "/joined", v: 2 }]);
    expect(join).toMatchObject({ url: "https://10.0.0.1:6443", token: "abcdef.0123456789abcdef" });
  });

  test.each([
    ["--hostname-override=a_b", /--hostname-override/],
    ["--node-labels=a=b=c", /--node-labels: "a=b=c" is not <key>=<value>/],
    ["--node-labels=-a=b", /--node-labels/],
    ["--register-with-taints=a", /--register-with-taints: "a" is not/],
    ["--node-labels=node-role.kubernetes.io/worker=", /a node may not set node-role.kubernetes.io\/worker on itself/],
    ["--register-with-taints=a=b:Maybe", /--register-with-taints/],
    ["--kube-reserved=cpu", /--kube-reserved: "cpu" is not <resource>=<quantity>/],
    ["--eviction-soft=memory.available<1Gi", /--eviction-soft: grace period must be specified/],
    ["--eviction-soft-grace-period=memory.available=x", /--eviction-soft-grace-period: "x" is not a duration/],
    ["--eviction-hard=memory<1Gi", /--eviction-hard: "memory<1Gi" is not/],
    ["--node-ip=10.0.0", /--node-ip: "10.0.0" is not an IP address/],
    ["--node-ip=10.0.0.1,10.0.0.2", /--node-ip: give one address/],
    ["--node-status-update-frequency=1ms", /--node-status-update-frequency: 1ms is too short/],
    ["--runtime=docker", /--runtime: "docker" is not/],
    ["--container-runtime-endpoint=unix:///x", /only --runtime cri uses it/],
    ["--tls-cert-file=/x", /give both or none/],
  ])("refuse %s", async (flag, message) => {
    const error = await optionsOf(flag).catch((thrown: Error) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).toMatch(message);
  });
});
