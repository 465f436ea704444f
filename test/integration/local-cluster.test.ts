import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Kubectl } from "../conformance/kubectl.ts";
import { hasHaproxy, LocalClusterCommand, openWay, processesOf, Scratch } from "./local-cluster.ts";

const timeoutMs = 180_000;
const scratch = new Scratch();
const { directory } = scratch;
let cluster: LocalClusterCommand;

beforeAll(async () => {
  cluster = await LocalClusterCommand.found(directory);
}, timeoutMs);
afterAll(async () => {
  await cluster.stop();
  scratch[Symbol.dispose]();
}, timeoutMs);

async function kubectl(): Promise<Kubectl & { way: AsyncDisposable }> {
  const way = await openWay(directory);
  return Object.assign(await Kubectl.open(way.kubeconfig), { way });
}

describe("three replicas on one machine", () => {
  test("each is a member that votes, and all are behind one kubeconfig with a context for each", async () => {
    await using client = await kubectl();
    const { leader, members } = JSON.parse(await client.ok(["get", "--raw", "/cluster/members"]));
    expect(members.map(({ id, name }: { id: number; name: string }) => `${id} ${name}`)).toEqual([
      "1 m1",
      "2 m2",
      "3 m3",
    ]);
    expect(members.filter(({ role }: { role: string }) => role === "learner")).toEqual([]);
    expect(leader).toBeGreaterThan(0);
    for (const context of ["m1", "m2", "m3", "quorate-token"]) {
      expect(await client.ok(["--context", context, "get", "namespace", "default", "-o", "name"])).toBe(
        "namespace/default\n",
      );
    }
    expect(readFileSync(join(directory, "kubeconfig"), "utf8").startsWith("# Written by quorate")).toBe(true);
    await client.way[Symbol.asyncDispose]();
  });

  test(
    "go on while one is killed, say so, and take it in again",
    async () => {
      await using client = await kubectl();
      const leader = JSON.parse(await client.ok(["get", "--raw", "/cluster/members"])).leader as number;
      const name = `m${leader}`;
      const pid = cluster.pidOf(name);
      process.kill(pid, "SIGKILL");
      let failures = 0;
      for (let i = 0; i < 10; i++) {
        const { code, stderr } = await client.run(["create", "configmap", `while-dead-${i}`]);
        if (code !== 0) failures++;
        else continue;
        // The old leader is gone and a new one is being elected. A second request finds or creates the object.
        expect(stderr).toMatch(/timeout|EOF|refused|reset|quorum|leader|not known|not done/i);
        const again = await client.run(["create", "configmap", `while-dead-${i}`]);
        expect(again.code === 0 || again.stderr.includes("AlreadyExists")).toBe(true);
      }
      expect(failures).toBeLessThanOrEqual(2);
      await cluster.says((line) => line === `start it again with: kill -USR2 ${cluster.pid}`);
      const [said, next] = await cluster.says((line) => line.startsWith(`${name} (process ${pid})`));
      expect([said, next]).toEqual([
        `${name} (process ${pid}) was killed by SIGKILL; 2 of 3 replicas are running, which is a quorum`,
        `start it again with: kill -USR2 ${cluster.pid}`,
      ]);

      cluster.signal("SIGUSR2");
      await cluster.says((line) => line.startsWith(`${name} runs again, process `), 60_000);
      const names = (await client.ok(["--context", name, "get", "configmaps", "-o", "name"])).split("\n");
      expect(names.filter((line) => line.includes("while-dead"))).toHaveLength(10);
      await client.way[Symbol.asyncDispose]();
    },
    timeoutMs,
  );

  test(
    "stop when told, leave no process behind, and are there again at the next start, also the one whose disk is lost",
    async () => {
      expect(await cluster.stop()).toBe(0);
      expect((await cluster.printed).split("\n")).toEqual([
        `export KUBECONFIG=${join(directory, "kubeconfig")}`,
        "kubectl get namespaces",
        "",
      ]);
      expect(processesOf(directory)).toEqual([]);

      rmSync(join(directory, "m2"), { recursive: true });
      cluster = await new LocalClusterCommand(directory).ready();
      await using client = await kubectl();
      for (const context of ["quorate", "m2"]) {
        const args = ["--context", context, "get", "configmap", "while-dead-9", "-o", "name"];
        expect(await client.ok(args)).toBe("configmap/while-dead-9\n");
      }
      const { members } = JSON.parse(await client.ok(["get", "--raw", "/cluster/members"]));
      expect(members.map(({ id, name }: { id: number; name: string }) => `${id} ${name}`)).toEqual([
        "1 m1",
        "3 m3",
        "4 m2",
      ]);
      await client.way[Symbol.asyncDispose]();
    },
    timeoutMs,
  );

  test(
    "end with the command when that is killed",
    async () => {
      expect(processesOf(directory).length).toBeGreaterThan(3);
      cluster.signal("SIGKILL");
      await cluster.exited;
      for (const endMs = performance.now() + 30_000; processesOf(directory).length > 0; await Bun.sleep(50)) {
        if (performance.now() > endMs) throw new Error(`left behind:\n${processesOf(directory).join("\n")}`);
      }
    },
    timeoutMs,
  );

  test("the balancer is haproxy where there is one, and said to be missing where there is none", () => {
    const expected = hasHaproxy
      ? /haproxy, process \d+, spreads connections/
      : /no load balancer: kubectl asks m1 only; if it is down, use kubectl --context m2 or m3;/;
    expect(cluster.complaints).toMatch(expected);
  });
});

describe("impossible requests", () => {
  test.each([
    [["--replicas=0"], /^quorate: --replicas: "0" is not a number from 1 to 7$/],
    [["--replicas=many"], /^quorate: --replicas: "many" is not a number/],
    [["--in-memory"], /^quorate: --in-memory: omit it/],
    [["--peer-address=127.0.0.1:1"], /^quorate: --peer-address: omit it/],
    [["--load-balancer=nginx"], /^quorate: .*--load-balancer <kind>': 'nginx' is not one of auto, haproxy, none/],
    [["--replicas=1"], /^quorate: .* holds 3 replicas: give --replicas 3/],
  ])("%j is told in one line", async (flags, message) => {
    const command = new LocalClusterCommand(directory, ...flags);
    expect(await command.exited).toBe(1);
    expect(command.complaints.trimEnd()).toMatch(message);
  });

  test("a replica that cannot start is named with its message, and the others are stopped", async () => {
    using other = new Scratch();
    const command = new LocalClusterCommand(join(other.directory, "data"), "--client-ca-file=/missing");
    expect(await command.exited).toBe(1);
    expect(command.complaints).toMatch(
      /\nquorate: m1 ended with code 1: quorate: --client-ca-file: cannot read .missing.*; its log is .*m1\.log\n$/,
    );
    expect(processesOf(other.directory)).toEqual([]);
  });
});
