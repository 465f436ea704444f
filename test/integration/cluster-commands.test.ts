import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { renderKubeconfig } from "../../src/access/certificates/kubeconfig.ts";
import { runCommand } from "../../src/cli/program.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import type { PeerHealth } from "../../src/cluster/gossip/gossip.ts";
import { FakeCluster } from "../../src/cluster/testing.ts";
import { ClusterServer } from "./cluster-server.ts";

const scratch = mkdtempSync(join(tmpdir(), "quorate-"));
const kubeconfig = join(scratch, "kubeconfig");
let cluster: FakeCluster;
let server: ClusterServer;

beforeAll(async () => {
  cluster = new FakeCluster("a");
  server = await ClusterServer.start({}, cluster);
  const { identity } = server.parts;
  const { admin, token } = identity;
  writeFileSync(kubeconfig, renderKubeconfig({ server: server.url, authority: identity.ca, admin, token }));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(scratch, { recursive: true });
});

async function quorate(...args: string[]) {
  const printed: string[] = [];
  const complaints: string[] = [];
  const terminal: Terminal = {
    print: (line) => void printed.push(...line.split("\n")),
    complain: (line) => void complaints.push(line),
    onStopSignal: () => ({ [Symbol.dispose]: () => {} }),
    onUncaught: () => ({ [Symbol.dispose]: () => {} }),
    exit: () => {},
  };
  const code = await runCommand(args, terminal);
  return { code, printed, complaints };
}
const at = (...args: string[]) => quorate(...args, "--kubeconfig", kubeconfig);

describe("commands of a cluster", () => {
  test("add a learner, with the command for its machine, promote it, let it lead, and remove it", async () => {
    const added = await at(
      "member",
      "add-learner",
      "b",
      "--peer-address=10.0.0.2:7380",
      "--client-url=https://10.0.0.2:1",
    );
    expect(added.code).toBe(0);
    expect(added.complaints[0]).toMatch(/^member 2 \(b\) is recorded; run this on that machine before \d.*Z:$/);
    expect(added.printed).toHaveLength(1);
    expect(added.printed[0]).toMatch(
      /^quorate cluster join https:\/\/127\.0\.0\.1:\d+ --token \w{6}\.\w{16} --ca-hash sha256:\w{64} --peer-address 10\.0\.0\.2:7380 --advertise-client-url https:\/\/10\.0\.0\.2:1 --member-name b$/,
    );
    const early = await at("member", "promote", "2");
    expect(early).toEqual({ code: 1, printed: [], complaints: ["quorate: member 2 has not caught up"] });
    cluster.caughtUp.add(2);
    expect(await at("member", "promote", "2")).toMatchObject({ code: 0, printed: ["member 2 is now a voter"] });
    const listed = await at("member", "list");
    expect(listed.printed).toEqual([
      "ID   NAME   ROLE     PEER ADDRESS     CLIENT URL",
      "1    a      leader   127.0.0.1:7001   https://127.0.0.1:6001",
      "2    b      voter    10.0.0.2:7380    https://10.0.0.2:1",
    ]);
    expect(JSON.parse((await at("member", "list", "-o", "json")).printed.join("\n")).members).toHaveLength(2);
    expect(await at("member", "transfer-leader", "2")).toMatchObject({
      code: 0,
      printed: ["member 2 is now the leader"],
    });
    cluster.leader = 1;
    expect((await at("member", "remove", "2")).code).toBe(0);
    expect(cluster.members()).toHaveLength(1);
  });

  test("make tokens, and list them without their secrets", async () => {
    const made = await at("cluster", "token", "create", "--ttl", "10m", "--description", "for the rack");
    expect(made.printed[0]).toMatch(
      /^quorate cluster join https:\S+ --token \w{6}\.\w{16} --ca-hash sha256:\w{64} --peer-address 127\.0\.0\.1:7002 --secure-port 6002 --member-name a-2 --data-dir \S+\/quorate-2$/,
    );
    expect(made.complaints[0]).toMatch(/^run this on this machine before /);
    const [id = "", secret = ""] = (/--token (\w+)\.(\w+)/.exec(made.printed[0] ?? "") ?? []).slice(1);
    const listed = (await at("cluster", "token", "list")).printed;
    expect(listed[0]).toMatch(/^ID +EXPIRES +DESCRIPTION$/);
    const line = listed.find((text) => text.startsWith(id));
    expect(line).toContain("for the rack");
    expect(listed.join("\n")).not.toContain(secret);
  });

  test("print a kubeconfig, for another address or user", async () => {
    const own = Bun.YAML.parse((await at("kubeconfig", "--address", "https://lb.example")).printed.join("\n")) as any;
    expect(own.clusters.map(({ cluster }: any) => cluster.server)).toEqual(["https://lb.example"]);
    expect(own.users.map(({ name }: any) => name)).toEqual(["quorate-admin"]);
    const wrong: [string[], RegExp][] = [
      [["--address", "lb"], /^quorate: --address: "lb" is not an https URL$/],
      [["--group", "g"], /^quorate: --group and --ttl describe a new certificate/],
    ];
    for (const [args, message] of wrong) {
      const { code, complaints } = await at("kubeconfig", ...args);
      expect([code, complaints]).toEqual([1, [expect.stringMatching(message)]]);
    }
  });

  test("report the error in one line", async () => {
    const wrong: [string[], RegExp][] = [
      [["status", "--kubeconfig", "/nowhere"], /^quorate: no kubeconfig at \/nowhere: name one with --kubeconfig$/],
      [["status", "--kubeconfig", kubeconfig, "--context", "x"], /there is no context "x"$/],
      [["status", "--kubeconfig", kubeconfig, "--server", "http://x"], /--server: "http:\/\/x" is not an https URL$/],
      [
        ["status", "--kubeconfig", kubeconfig, "--server", "https://127.0.0.1:1"],
        /cannot reach .*: nothing listens there$/,
      ],
      [["cluster", "rotate-ca", "--finish", "--kubeconfig", kubeconfig], /^quorate: --finish: .*: add --api$/],
      [["member", "remove", "9", "--kubeconfig", kubeconfig], /^quorate: there is no member 9$/],
      [["member", "remove", "1", "--kubeconfig", kubeconfig], /^quorate: the last member cannot be removed$/],
      [
        ["cluster", "init", "--data-dir", scratch],
        /^quorate: --peer-address: give the address where the other members reach/,
      ],
      [["cluster", "init", "--in-memory"], /^quorate: a member of a cluster keeps its data on disk/],
      [
        ["cluster", "join", "https://x", "--data-dir", scratch, "--peer-address", "127.0.0.1:1"],
        /^quorate: --token: give the token/,
      ],
      [
        ["cluster", "join", "x", "--token", "a", "--data-dir", scratch, "--peer-address", "127.0.0.1:1"],
        /^quorate: the URL to join: "x" is not https/,
      ],
      [
        ["cluster", "join", "https://x", "--token", "a", "--data-dir", scratch, "--peer-address", "127.0.0.1:1"],
        /^quorate: --token: a token consists of six and sixteen/,
      ],
      [
        [
          "cluster",
          "join",
          "https://x",
          "--token",
          "abcdef.0123456789abcdef",
          "--data-dir",
          scratch,
          "--peer-address=127.0.0.1:1",
        ],
        /^quorate: --ca-hash: "" is not sha256:/,
      ],
    ];
    for (const [args, message] of wrong) {
      const { code, printed, complaints } = await quorate(...args);
      expect({ args, code, printed, lines: complaints.length }).toEqual({ args, code: 1, printed: [], lines: 1 });
      expect(complaints[0]).toMatch(message);
    }
  });
});

describe("status", () => {
  test("asks each member, and names those that do not answer", async () => {
    const other = new FakeCluster("a", "b", "c");
    other.self = 2;
    const second = await ClusterServer.start({}, other, server);
    const first = new FakeCluster("a", "b", "c");
    const front = await ClusterServer.start({}, first, server);
    const records = first
      .members()
      .map((member) => ({ ...member, clientUrl: member.id === 2 ? second.url : member.clientUrl }));
    for (const replica of [first, other]) {
      const status = replica.status.bind(replica);
      replica.status = () => {
        const now = status();
        const members = now.members.map((member) => ({
          ...member,
          clientUrl: records[member.id - 1]?.clientUrl ?? "",
        }));
        return { ...now, members };
      };
    }
    const shown = await at("status", "--server", front.url);
    expect(shown.code).toBe(0);
    expect(shown.printed.slice(0, 5)).toEqual([
      "Cluster:     cluster-of-tests",
      "Leader:      1 (a), term 3",
      "Revision:    7, log index 10",
      "Voters:      2 of 3 are healthy",
      "Encrypted:   nothing",
    ]);
    expect(shown.printed[7]).toMatch(/^1 +a +leader +ok +9 +1 +5 +4Ki +1\.2\.3 +https/);
    expect(shown.printed[8]).toMatch(/^2 +b +voter +ok /);
    expect(shown.printed[9]).toMatch(/^3 +c +voter +unreachable +9 +1 +- +- +- /);
    expect(shown.printed.at(-1)).toMatch(/^member 3: cannot reach https:\/\/127.0.0.1:6003: nothing listens there$/);
    second.parts.heard.set(3, { ageMs: 2_100, failing: ["etcd"] } as unknown as PeerHealth);
    const heard = await at("status", "--server", front.url);
    expect(heard.printed.at(-1)).toEndWith("listens there; member 2 heard from it 2 s ago, not ready: etcd");
    const json = JSON.parse((await at("status", "-o", "json", "--server", front.url)).printed.join("\n"));
    expect(json).toMatchObject({ leader: 1, voters: { well: 2, all: 3 }, members: [{ health: "ok" }, {}, {}] });

    const whole = first.status.bind(first);
    first.status = () => {
      const now = whole();
      return { ...now, members: now.members.map((member) => (member.id === 3 ? { ...member, role: "none" } : member)) };
    };
    const recorded = await at("status", "--server", front.url);
    expect(recorded.printed[3]).toBe("Voters:      2 of 2 are healthy");
    expect(recorded.printed[9]).toMatch(/^3 +c +none +unreachable /);

    const differing = other.status.bind(other);
    other.status = () => ({ ...differing(), stateHash: "ffff" });
    const differs = await at("status", "--server", front.url);
    expect(differs.printed.at(-2)).toMatch(/^member 2: its state is not that of member 1 at index 9$/);
    expect(differs.code).toBe(1);
    await second[Symbol.asyncDispose]();
    await front[Symbol.asyncDispose]();
  });
});
