import { describe, expect, test } from "bun:test";
import { StartupError } from "../process/startup-error.ts";
import type { RunningServer, ServerOptions } from "../server/config/server-options.ts";
import type { AgentCommands } from "./agent/commands.ts";
import type { ClusterCommands } from "./cluster/commands.ts";
import { type Commands, runCommand } from "./program.ts";
import { startupFailureText } from "./startup-failure.ts";
import type { Terminal } from "./terminal.ts";
import { up } from "./up.ts";

class RecordingTerminal implements Terminal {
  readonly printed: string[] = [];
  readonly complaints: string[] = [];
  readonly exits: number[] = [];
  signal: (signal: string) => void = () => {};
  uncaught: (error: unknown) => void = () => {};
  print(line: string): void {
    this.printed.push(line);
  }
  complain(line: string): void {
    this.complaints.push(line);
  }
  onStopSignal(run: (signal: string) => void): Disposable {
    this.signal = run;
    return { [Symbol.dispose]: () => {} };
  }
  onUncaught(run: (error: unknown) => void): Disposable {
    this.uncaught = run;
    return { [Symbol.dispose]: () => {} };
  }
  exit(code: number): void {
    this.exits.push(code);
  }
}

/** Commands that only note what they are called with. */
function recording(calls: unknown[][]): ClusterCommands & AgentCommands {
  const note = (_: object, name: string) => {
    return async (...args: unknown[]) => {
      calls.push([name, ...args.slice(0, -1)]);
      return 0;
    };
  };
  return new Proxy({}, { get: note as never }) as ClusterCommands & AgentCommands;
}

async function runCluster(...args: string[]) {
  const terminal = new RecordingTerminal();
  const calls: unknown[][] = [];
  const commands: Commands = {
    up: async () => 1,
    servingProcess: async () => 1,
    version: async () => 1,
    migrate: async () => 1,
    cluster: recording(calls),
    agent: recording(calls),
  };
  const exitCode = await runCommand(args, terminal, commands);
  return { terminal, calls, exitCode };
}

async function runUp(...args: string[]) {
  const terminal = new RecordingTerminal();
  let options: ServerOptions | undefined;
  const commands: Commands = {
    up: async (given) => {
      options = given;
      return 0;
    },
    servingProcess: async () => 0,
    version: async () => 0,
    migrate: async () => 0,
    cluster: recording([]),
    agent: recording([]),
  };
  const exitCode = await runCommand(args, terminal, commands);
  return { terminal, options, exitCode };
}

describe("the command line", () => {
  test.each([
    [["--secure-port", "0"], { securePort: 0 }],
    [["--secure-port=0"], { securePort: 0 }],
    [["--in-memory"], { inMemory: true }],
    [["--in-memory=false"], { inMemory: false }],
    [["--anonymous-auth=false"], { anonymousAuth: false }],
    [["--in-memory", "--anonymous-auth"], { inMemory: true, anonymousAuth: true }],
    [["-v", "4"], { verbosity: 4 }],
    [["-v=4"], { verbosity: 4 }],
    [["-v4"], { verbosity: 4 }],
    [["--v=4"], { verbosity: 4 }],
    [["--shutdown-delay-duration=1m30s"], { shutdownDelayDurationMs: 90_000 }],
    [["--feature-gates", "A=true", "--feature-gates=B=false"], { featureGates: { A: true, B: false } }],
    [["--runtime-config=api/beta"], { runtimeConfig: { "api/beta": true } }],
    [["--data-dir", "/x", "--data-dir", "/y"], { dataDir: "/y" }],
    [["--token-auth-file=/a=b"], { tokenAuthFile: "/a=b" }],
    [["--authorization-mode=AlwaysDeny"], { authorizationMode: ["AlwaysDeny"] }],
    [[], {}],
  ])("reads up %p", async (args, expected) => {
    const { options, terminal, exitCode } = await runUp("up", ...args);
    expect(terminal.complaints).toEqual([]);
    expect(options).toEqual(expected);
    expect(exitCode).toBe(0);
  });

  test.each([
    [["up", "--nonsense"], /unknown flag '--nonsense'.*see "quorate help up"/],
    [["up", "--secure-prot", "1"], /Did you mean --secure-port\?/],
    [["up", "--secure-port", "many"], /^quorate: --secure-port: "many" is not an integer from 0 to 65535/],
    [["up", "--secure-port"], /flag '--secure-port <port>' needs a value: see/],
    [["up", "--in-memory=maybe"], /--in-memory: "maybe" is not true or false/],
    [["up", "--request-timeout", "5"], /is not a duration such as 5s/],
    [["up", "extra"], /too many arguments/],
    [["nonsense"], /^quorate: unknown command 'nonsense': see "quorate help"$/],
    [["help", "nonsense"], /^quorate: unknown command 'nonsense': see "quorate help"$/],
    [["help", "cluster", "jion"], /^quorate: unknown command 'cluster jion': see "quorate help cluster"$/],
    [["completion"], /missing argument 'shell': see "quorate help completion"$/],
    [["completion", "tcsh"], /^quorate: 'tcsh' is not one of bash, fish, zsh: see "quorate help completion"$/],
    [["verison"], /unknown command 'verison' \(Did you mean version\?\): see "quorate help"$/],
    [["up", "--nonsense\u001b[2J"], /unknown flag/],
  ])("refuses %p with one line and exit code 1", async (args, message) => {
    const { terminal, options, exitCode } = await runUp(...args);
    expect(exitCode).toBe(1);
    expect(options).toBeUndefined();
    expect(terminal.printed).toEqual([]);
    expect(terminal.complaints).toHaveLength(1);
    expect(terminal.complaints[0]).toMatch(message);
    expect(terminal.complaints[0]).not.toMatch(/\p{Cc}/u);
  });

  test("help lists every group of flags and leaves with 0", async () => {
    const { terminal, exitCode } = await runUp("up", "--help");
    expect(exitCode).toBe(0);
    const help = terminal.printed.join("\n");
    for (const text of [
      "Serving:",
      "Storage:",
      "Limits:",
      "--secure-port <port>",
      "(default 6443)",
      "(default 5m0s)",
    ]) {
      expect(help).toContain(text);
    }
  });

  test.each([
    [["help", "cluster", "join"], /^Usage: quorate cluster join /],
    [["cluster", "help", "join"], /^Usage: quorate cluster join /],
    [["help", "cluster", "token", "create"], /^Usage: quorate cluster token create /],
    [["cluster", "token", "help", "create"], /^Usage: quorate cluster token create /],
    [["help", "snapshot"], /^Usage: quorate snapshot /],
    [["snapshot", "help"], /^Usage: quorate snapshot /],
    [["help", "help"], /^Usage: quorate help /],
    [["help"], /^Usage: quorate \[options\] \[command\]/],
    [[], /^Usage: quorate \[options\] \[command\]/],
  ])("%p shows the help of that command", async (args, text) => {
    const { terminal, exitCode } = await runUp(...args);
    expect([exitCode, terminal.complaints]).toEqual([0, []]);
    expect(terminal.printed.join("\n")).toMatch(text);
  });

  test("version names the API that is served", async () => {
    const terminal = new RecordingTerminal();
    expect(await runCommand(["version"], terminal)).toBe(0);
    expect(terminal.printed.join("\n")).toMatch(/^quorate \d+\.\d+\.\d+\nserves v1\.36\./);
  });
});

describe("the commands of a cluster", () => {
  const url = "https://10.0.0.1:6443";
  test.each<[string[], unknown[]]>([
    [
      ["cluster", "init", "--peer-address", "10.0.0.1:7380"],
      ["init", { peerAddress: "10.0.0.1:7380" }],
    ],
    [
      ["cluster", "join", url, "--token", "t", "--ca-hash=h", "--secure-port=1"],
      ["join", { securePort: 1 }, { endpoint: url, token: "t", tokenFile: undefined, caHash: "h", learner: false }],
    ],
    [
      ["cluster", "join", url, "--token-file", "/f", "--learner"],
      ["join", {}, { endpoint: url, token: undefined, tokenFile: "/f", caHash: undefined, learner: true }],
    ],
    [
      ["cluster", "token", "create"],
      ["createToken", {}, { ttlSeconds: undefined, description: undefined }],
    ],
    [
      ["cluster", "token", "create", "--ttl", "10m", "--description", "d", "-s", url],
      ["createToken", { server: url }, { ttlSeconds: 600, description: "d" }],
    ],
    [
      ["cluster", "token", "list"],
      ["listTokens", {}],
    ],
    [
      ["member", "list", "-o", "json"],
      ["listMembers", {}, "json"],
    ],
    [
      ["member", "add-learner", "b", "--peer-address=10.0.0.2:1", `--client-url=${url}`],
      ["addLearner", {}, { name: "b", peerAddress: "10.0.0.2:1", clientUrl: url }],
    ],
    [
      ["member", "promote", "2", "--kubeconfig", "/k"],
      ["promoteMember", { kubeconfig: "/k" }, 2],
    ],
    [
      ["member", "remove", "3"],
      ["removeMember", {}, 3],
    ],
    [
      ["member", "transfer-leader", "3", "--context=c"],
      ["transferLeader", { context: "c" }, 3],
    ],
    [["status"], ["status", {}, "table"]],
    [
      ["cluster", "recover", "--data-dir", "/d"],
      ["recover", "/d"],
    ],
    [
      ["snapshot", "save", "f", "-s", url],
      ["saveSnapshot", { server: url }, "f"],
    ],
    [
      ["snapshot", "inspect", "f"],
      ["inspectSnapshot", "f", "table"],
    ],
    [
      ["snapshot", "restore", "f", "--data-dir=/d"],
      ["restoreSnapshot", "f", { directory: "/d", revisionGap: 1_000_000_000 }],
    ],
    [
      ["snapshot", "restore", "f", "--data-dir=/d", "--bump-revision", "7"],
      ["restoreSnapshot", "f", { directory: "/d", revisionGap: 7 }],
    ],
  ])("reads %p", async (args, expected) => {
    const { calls, terminal, exitCode } = await runCluster(...args);
    expect(terminal.complaints).toEqual([]);
    expect(calls).toEqual([expected]);
    expect(exitCode).toBe(0);
  });

  test.each<[string[], RegExp]>([
    [["cluster"], /^quorate: cluster needs a subcommand: see "quorate help cluster"$/],
    [["cluster", "token"], /^quorate: cluster token needs a subcommand: see "quorate help cluster token"$/],
    [["member", "promote"], /missing argument 'id': see "quorate help member promote"$/],
    [["member", "promote", "b"], /^quorate: "b" is not the id of a member: see "quorate member list"$/],
    [["member", "promote", "0"], /is not the id of a member/],
    [["member", "nonsense"], /unknown command 'nonsense': see "quorate help member"$/],
    [
      ["member", "add-learner", "b"],
      /flag '--peer-address <host:port>' is missing: see "quorate help member add-learner"$/,
    ],
    [["status", "-o", "yaml"], /'yaml' is not one of table, json: see "quorate help status"$/],
    [["cluster", "recover"], /flag '--data-dir <dir>' is missing/],
    [
      ["snapshot", "restore", "f", "--data-dir=/d", "--bump-revision=-1"],
      /^quorate: --bump-revision: "-1" is not a number$/,
    ],
    [["cluster", "join"], /missing argument 'url'/],
    [["cluster", "token", "create", "--ttl", "soon"], /^quorate: --ttl: "soon" is not a duration such as 1h$/],
  ])("refuses %p with one line and exit code 1", async (args, message) => {
    const { calls, terminal, exitCode } = await runCluster(...args);
    expect(exitCode).toBe(1);
    expect(calls).toEqual([]);
    expect(terminal.complaints).toHaveLength(1);
    expect(terminal.complaints[0]).toMatch(message);
  });
});

describe("up", () => {
  function fakeServer(calls: string[], options?: ServerOptions): RunningServer {
    return {
      url: "https://127.0.0.1:1",
      port: 1,
      kubeconfig: "",
      kubeconfigPath: options?.kubeconfig,
      token: "",
      ca: "",
      failed: new Promise(() => undefined),
      client: () => {
        throw new Error("nobody asks");
      },
      beginShutdown: () => calls.push("beginShutdown"),
      close: async () => void calls.push("close"),
    };
  }

  async function started(options: ServerOptions) {
    const terminal = new RecordingTerminal();
    const calls: string[] = [];
    const ready = Promise.withResolvers<ServerOptions | undefined>();
    const done = up(options, terminal, async () => async (given) => {
      queueMicrotask(() => ready.resolve(given));
      return fakeServer(calls, given);
    });
    return { terminal, calls, done, given: await ready.promise };
  }

  test("prints the two lines that one types next, and stops in order at a signal", async () => {
    const { terminal, calls, done, given } = await started({ dataDir: "/data dir", shutdownDelayDurationMs: 5 });
    await Bun.sleep(1);
    expect(terminal.printed).toEqual(["export KUBECONFIG='/data dir/kubeconfig'", "kubectl get namespaces"]);
    expect(given).toMatchObject({ dataDir: "/data dir", securePort: 6443, inMemory: false });
    terminal.signal("SIGTERM");
    expect(await done).toBe(0);
    expect(calls).toEqual(["beginShutdown", "close"]);
    expect(terminal.exits).toEqual([]);
  });

  test("says which nodes are simulated", async () => {
    const terminal = new RecordingTerminal();
    const simulatedNodes = { names: ["node-1", "node-2", "node-3"], seed: 7 };
    const started = up({ inMemory: true }, terminal, async () => async () => ({ ...fakeServer([]), simulatedNodes }));
    while (terminal.printed.length < 3) await Bun.sleep(1);
    expect(terminal.printed[2]).toBe(
      "# 3 simulated nodes, node-1 to node-3: pods run there without processes (--simulation-seed 7)",
    );
    terminal.signal("SIGTERM");
    expect(await started).toBe(0);
  });

  test("exits with 1 and the reason when the store has failed", async () => {
    const terminal = new RecordingTerminal();
    const failed = Promise.resolve(new Error("the store failed and takes no more writes: no space left on device"));
    void up({ dataDir: "/data" }, terminal, async () => async (given) => ({ ...fakeServer([], given), failed }));
    while (terminal.exits.length === 0) await Bun.sleep(10);
    expect(terminal.exits).toEqual([1]);
    expect(terminal.complaints.join("\n")).toMatch(
      /^quorate: the store failed .*no space left on device; no acknowledged write is lost$/,
    );
  });

  test("leaves at once at the second signal", async () => {
    const { terminal, done } = await started({ inMemory: true });
    await Bun.sleep(1);
    terminal.signal("SIGINT");
    terminal.signal("SIGINT");
    expect(terminal.exits).toEqual([1]);
    expect(await done).toBe(0);
  });

  test("in memory has its own kubeconfig, which is removed with the server", async () => {
    const { terminal, done, given } = await started({ inMemory: true });
    await Bun.sleep(1);
    expect(given?.kubeconfig).toMatch(/quorate-[^/]+\/kubeconfig$/);
    terminal.signal("SIGINT");
    await done;
    expect(await Bun.file(given?.kubeconfig ?? "").exists()).toBe(false);
  });

  test("an error that nothing caught is one line and the end", async () => {
    const { terminal, done } = await started({ inMemory: true });
    terminal.uncaught(new Error("boom\nBearer abc"));
    expect(terminal.exits).toEqual([1]);
    expect(terminal.complaints).toHaveLength(1);
    expect(terminal.complaints[0]).toContain("boom");
    expect(terminal.complaints[0]).not.toMatch(/abc|\n/);
    terminal.signal("SIGINT");
    await done;
  });
});

test.each([
  [new StartupError("--x: wrong: do y"), "--x: wrong: do y"],
  [
    Object.assign(new Error("listen"), { code: "EADDRINUSE", address: "127.0.0.1", port: 6443 }),
    "127.0.0.1 port 6443 is in use",
  ],
  [Object.assign(new Error("mkdir"), { code: "EACCES", path: "/data" }), "no permission for /data"],
  [
    Object.assign(new Error("listen"), { code: "EACCES", address: "::", port: 80 }),
    "no permission to listen on :: port 80",
  ],
  [Object.assign(new Error("write"), { code: "ENOSPC", path: "/data" }), "no space left for /data"],
  [
    new Error("open failed", { cause: Object.assign(new Error("lock"), { code: "LEVEL_LOCKED" }) }),
    "in use by another quorate",
  ],
  [new Error("error:0b000074:KEY_VALUES_MISMATCH"), "is not the key of --tls-cert-file"],
  [new Error("strange\n  thing"), "cannot start: strange thing"],
  ["text", "cannot start: text"],
])("%p is told in one line", (error, text) => {
  expect(startupFailureText(error)).toContain(text);
  expect(startupFailureText(error)).not.toContain("\n");
});
