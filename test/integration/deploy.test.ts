import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { load } from "js-yaml";
import { freePorts } from "../../raft/testing/free-ports.ts";
import { findHaproxy, haproxyConfig } from "../../src/cli/cluster/local-cluster-balancer.ts";
import { readKubeconfig } from "../../src/client/kubeconfig.ts";
import { flags } from "../../src/server/config/flags.ts";
import { Scratch } from "./local-cluster.ts";

const root = join(import.meta.dir, "../..");
const deploy = join(root, "deploy");
const timeoutMs = 180_000;
const scratch = new Scratch();
const installed = join(scratch.directory, "opt");
const data = join(scratch.directory, "data-1");
const running: Bun.Subprocess[] = [];
let ports: number[];

const text = (...path: string[]) => readFileSync(join(deploy, ...path), "utf8");

beforeAll(async () => {
  const made = Bun.spawnSync([process.execPath, join(root, "scripts/install.ts"), installed]);
  expect(made.stderr.toString()).toBe("");
  ports = await freePorts(6);
}, timeoutMs);
afterAll(async () => {
  for (const child of running) child.kill("SIGTERM");
  await Promise.all(running.map((child) => child.exited));
  scratch[Symbol.dispose]();
}, timeoutMs);

/** Starts a service's command without this process's environment, except the path to the system's programs. */
function start(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): Bun.Subprocess<"ignore", "pipe", "inherit"> {
  const child = Bun.spawn([...command], {
    env: { PATH: "/usr/bin:/bin", ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  running.push(child);
  return child;
}

async function serves({ stdout }: { stdout: ReadableStream<Uint8Array> }): Promise<void> {
  let printed = "";
  for await (const bytes of stdout) {
    printed += new TextDecoder().decode(bytes);
    if (printed.includes("kubectl get namespaces")) return;
  }
  throw new Error(`ended before it served:\n${printed}`);
}

function flagsOf(number: number): string {
  const [port = 0, peerPort = 0] = ports.slice(number * 2);
  return `--peer-address=127.0.0.1:${peerPort} --secure-port=${port} --gossip=false --member-name=m${number + 1}`;
}

/** Returns `/opt/quorate/bin/x --flag` of a unit in its form on this machine. */
function execStartOf(unit: string): string[] {
  const [, line = ""] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
  return line.replaceAll("/opt/quorate", installed).split(" ");
}

async function metricsOf(directory: string): Promise<string> {
  const { url, proof } = readKubeconfig(join(directory, "kubeconfig"));
  return (await fetch(`${url}/metrics`, { tls: (await proof()).tls })).text();
}

describe("an installed program", () => {
  test(
    "starts like the unit, and another one joins it with the first one's invitation",
    async () => {
      const command = execStartOf(text("systemd/quorate.service"));
      expect(command.length).toBeGreaterThan(1);
      await serves(start(command, { STATE_DIRECTORY: data, QUORATE_FLAGS: flagsOf(0) }));
      const { url } = readKubeconfig(join(data, "kubeconfig"));
      // With the unit's authorization, health checks need no credentials.
      const ready = await fetch(`${url}/readyz`, { tls: { rejectUnauthorized: false } });
      expect([ready.status, await ready.text()]).toEqual([200, "ok"]);

      const file = join(scratch.directory, "join");
      const second = join(scratch.directory, "data-2");
      const joining = start([join(installed, "bin/quorate-start"), "--authorization-mode=Node,RBAC"], {
        QUORATE_DATA_DIR: second,
        QUORATE_JOIN_FILE: file,
        QUORATE_FLAGS: flagsOf(1),
      });
      const invite = start([join(installed, "bin/quorate-invite"), join(data, "kubeconfig"), url, file], {});
      expect(await invite.exited).toBe(0);
      await serves(joining);
      const members = await metricsOf(second);
      expect(members).toMatch(/^quorate_raft_has_leader 1$/m);
      // Other users of the machine cannot see the token in any process.
      const [, token = ""] = /QUORATE_JOIN_TOKEN=(\S+)/.exec(readFileSync(file, "utf8")) ?? [];
      expect(token).toMatch(/^\w{6}\.\w{16}$/);
      expect(Bun.spawnSync(["ps", "-e", "-o", "args="]).stdout.toString()).not.toContain(token);
    },
    timeoutMs,
  );

  test(
    "uses its existing data at the next start, whatever the first start's command",
    async () => {
      const second = join(scratch.directory, "data-2");
      const child = running[1];
      child?.kill("SIGTERM");
      expect(await child?.exited).toBe(0);
      const env = {
        QUORATE_DATA_DIR: second,
        QUORATE_FLAGS: flagsOf(1),
        QUORATE_JOIN_URL: "https://127.0.0.1:1",
        QUORATE_JOIN_TOKEN: "x",
      };
      await serves(start([join(installed, "bin/quorate-start")], env));
    },
    timeoutMs,
  );

  test(
    "has every metric that alerts and dashboard speak of",
    async () => {
      const known = new Set(
        [...(await metricsOf(data)).matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = "", type]) =>
          type === "histogram" ? ["_bucket", "_sum", "_count"].map((suffix) => name + suffix) : [name],
        ),
      );
      const { groups } = load(text("prometheus/quorate-alerts.yml")) as { groups: { rules: { expr: string }[] }[] };
      const { panels } = JSON.parse(text("grafana/quorate.json")) as { panels: { targets?: { expr: string }[] }[] };
      const expressions = [...groups.flatMap(({ rules }) => rules), ...panels.flatMap(({ targets }) => targets ?? [])];
      const used = new Set(
        expressions.flatMap(({ expr }) => [...expr.matchAll(/([a-z_]+)\{job="quorate"/g)].map(([, name = ""]) => name)),
      );
      expect(used.size).toBeGreaterThan(15);
      // Prometheus itself makes this metric.
      expect([...used].filter((name) => name !== "up" && !known.has(name))).toEqual([]);
      // Every metric name of ours in the expressions, recognised by its labels.
      const mentioned = expressions.flatMap(({ expr }) => expr.match(/\b(?:quorate|apiserver)_[a-z_]+/g) ?? []);
      expect(mentioned.filter((name) => !used.has(name))).toEqual([]);
    },
    timeoutMs,
  );
});

describe("files for services", () => {
  const places: [string, string][] = [
    "quorate-start",
    "haproxy.cfg",
    "README.md",
    "systemd/quorate.service",
    "systemd/quorate@.service",
    "systemd/quorate.env",
    "container/Dockerfile",
    "container/compose.yaml",
  ].map((path) => [path, text(path)]);

  /** Flags of other commands in the same files. */
  const foreign = new Set([
    "frozen-lockfile",
    "detach",
    "build",
    "now",
    "duration",
    "verb",
    "non-resource-url",
    "clusterrole",
    "serviceaccount",
    "context",
  ]);
  const foreignInDockerfile = new Set([
    "system",
    "uid",
    "home-dir",
    "interval",
    "timeout",
    "start-period",
    "from",
    "production",
  ]);
  const ofCommands = new Set(["replicas", "token-file", "ca-hash", "kubeconfig", "server", "help", "api", "finish"]);

  test.each(places)("%s names only flags that there are", (path, content) => {
    const named = [...content.matchAll(/(?<![\w-])--([a-z][a-z-]+)/g)].map(([, name = ""]) => name);
    const unknown = named.filter(
      (name) =>
        !(name in flags) &&
        !foreign.has(name) &&
        !ofCommands.has(name) &&
        !(path === "container/Dockerfile" && foreignInDockerfile.has(name)),
    );
    expect(unknown).toEqual([]);
  });

  test("the unit of one replica among several differs from that of one in its name only", () => {
    const one = text("systemd/quorate.service");
    const several = text("systemd/quorate@.service");
    expect(
      several
        .replace("replica %i of", "one replica of")
        .replace("/%i.env", "/quorate.env")
        .replace("quorate-%i", "quorate"),
    ).toBe(one);
  });

  test("systemd finds nothing wrong with the units, where it is there to say so", () => {
    const analyze = Bun.which("systemd-analyze");
    const units = ["quorate.service", "quorate@.service"].map((name) => {
      const path = join(scratch.directory, name);
      writeFileSync(path, text("systemd", name).replaceAll("/opt/quorate", installed));
      return path;
    });
    expect(
      units.map((path) => execStartOf(readFileSync(path, "utf8"))[0]).every((program) => existsSync(program ?? "")),
    ).toBe(true);
    if (analyze === null) return;
    const { exitCode, stderr } = Bun.spawnSync([analyze, "verify", "--man=no", ...units]);
    const ours = stderr
      .toString()
      .split("\n")
      .filter((line) => line.includes("quorate"));
    expect({ ours, exitCode }).toEqual({ ours: [], exitCode: 0 });
  });

  test("the Dockerfile copies and starts existing files, with the project's pinned Bun", () => {
    const dockerfile = text("container/Dockerfile");
    const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      packageManager: string;
    };
    const buns = [...dockerfile.matchAll(/bun@[\d.]+/g)].map(([name]) => name);
    expect(new Set([...buns, ...(text("README.md").match(/bun@[\d.]+/g) ?? [])])).toEqual(new Set([packageManager]));
    for (const [, script = ""] of dockerfile.matchAll(/bun@\S+ (scripts\/\S+)/g))
      expect(existsSync(join(root, script))).toBe(true);
    for (const [program] of dockerfile.matchAll(/\/opt\/quorate\/(?:bin|lib)\/[\w-]+/g)) {
      expect(existsSync(program.replace("/opt/quorate", installed))).toBe(true);
    }
  });

  test("compose starts three replicas that differ in their name, and refers to existing files", () => {
    const compose = load(text("container/compose.yaml")) as {
      services: Record<
        string,
        {
          command?: string[];
          volumes: string[];
          entrypoint?: string[];
          build?: { context: string; dockerfile: string };
          depends_on?: string[];
        }
      >;
      volumes: Record<string, unknown>;
    };
    const { services } = compose;
    const replicas = Object.keys(services).filter((name) => name.startsWith("quorate-"));
    expect(replicas).toEqual(["quorate-1", "quorate-2", "quorate-3"]);
    for (const [name, { command = [], build }] of Object.entries(services)) {
      if (build !== undefined)
        expect(existsSync(join(deploy, "container", build.context, build.dockerfile))).toBe(true);
      if (!replicas.includes(name)) continue;
      expect(command).toEqual([
        "--authorization-mode=Node,RBAC",
        `--member-name=${name}`,
        `--peer-address=${name}:7380`,
      ]);
    }
    for (const { volumes, entrypoint, depends_on = [] } of Object.values(services)) {
      for (const volume of volumes) {
        const [source = ""] = volume.split(":");
        const isThere = source.startsWith(".")
          ? existsSync(join(deploy, "container", source))
          : source in compose.volumes;
        expect({ volume, isThere }).toEqual({ volume, isThere: true });
      }
      const [program] = entrypoint ?? [];
      if (program !== undefined) expect(existsSync(program.replace("/opt/quorate", installed))).toBe(true);
      expect(depends_on.filter((name) => !(name in services))).toEqual([]);
    }
  });
});

describe("haproxy's configuration", () => {
  const servers = (name: string, address: (number: number) => string) =>
    [1, 2, 3].map((number) => ({ name: `${name}${number}`, address: address(number) }));
  const withoutComments = (config: string) => config.replace(/^ *#.*\n/gm, "");

  test("is that of `cluster up`, which is tested with real replicas", () => {
    const ours = withoutComments(text("haproxy.cfg")).replace(/^ *(?:user|group) haproxy\n/gm, "");
    expect(ours).toBe(haproxyConfig({ bind: ":6443", servers: servers("m", (number) => `10.0.0.${number}:6443`) }));
    const compose = withoutComments(text("container/haproxy.cfg"))
      .replace(/^resolvers.*\n.*\n\n/m, "")
      .replace(" resolvers docker init-addr libc,none", "");
    expect(compose).toBe(
      haproxyConfig({ bind: ":6443", servers: servers("quorate-", (number) => `quorate-${number}:6443`) }),
    );
  });

  test("is valid, where haproxy is there to say so", () => {
    const haproxy = findHaproxy();
    const config = text("haproxy.cfg").replace(/^ *(?:user|group) haproxy\n/gm, "");
    const path = join(scratch.directory, "haproxy.cfg");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, config);
    expect(config.match(/^ {4}server /gm)).toHaveLength(3);
    if (haproxy === undefined) return;
    const compose = join(scratch.directory, "compose-haproxy.cfg");
    copyFileSync(join(deploy, "container/haproxy.cfg"), compose);
    for (const file of [path, compose]) {
      const { exitCode, stdout, stderr } = Bun.spawnSync([haproxy, "-c", "-f", file]);
      expect({ exitCode, said: exitCode === 0 ? "" : `${stdout}${stderr}` }).toEqual({ exitCode: 0, said: "" });
    }
  });
});
