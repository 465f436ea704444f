import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { clear, isMade, type LocalLayout, type LocalMember, openLayout } from "./local-cluster-layout.ts";

const scratch = mkdtempSync(join(tmpdir(), "quorate-"));
afterAll(() => rmSync(scratch, { recursive: true }));
let count = 0;
const fresh = () => join(scratch, String(count++));
const portsOf = ({ port, members }: LocalLayout) => [
  port,
  ...members.flatMap((member) => [member.port, member.peerPort, member.gossipPort]),
];

describe("the places of replicas", () => {
  test("are free ports, each once, and directories by name", async () => {
    const directory = fresh();
    const layout = await openLayout(directory, 3, 0, 6443);
    expect(new Set(portsOf(layout)).size).toBe(10);
    expect(layout.members.map(({ name, directory: own }) => [name, own])).toEqual(
      ["m1", "m2", "m3"].map((name) => [name, join(directory, name)]),
    );
  });

  test("stay as they were, and more can be added", async () => {
    const directory = fresh();
    const first = await openLayout(directory, 2, 0, 6443);
    expect(await openLayout(directory, 2, 0, 6443)).toEqual(first);
    expect(await openLayout(directory, 2, undefined, 6443)).toEqual(first);
    const more = await openLayout(directory, 3, 0, 6443);
    expect(more.members.slice(0, 2)).toEqual([...first.members]);
    expect(new Set(portsOf(more)).size).toBe(10);
  });

  test("another port of the load balancer moves nothing else", async () => {
    const directory = fresh();
    const { port, members } = await openLayout(directory, 2, 0, 6443);
    expect(await openLayout(directory, 2, port + 1, 6443)).toEqual({ directory, port: port + 1, members });
  });

  test("are above the port of the load balancer, except where that is taken", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((done) => server.once("listening", done));
    const { port: taken } = server.address() as { port: number };
    const { port, members } = await openLayout(fresh(), 1, taken - 1, 6443);
    server.close();
    expect(port).toBe(taken - 1);
    expect(members[0].port).not.toBe(taken);
    expect(members[0].peerPort).toBeGreaterThan(0);
  });

  test("only what a start that was cut short has left is cleared away", async () => {
    const { members } = await openLayout(fresh(), 3, 0, 6443);
    const [opened, cutShort, foreign] = members;
    const put = (member: LocalMember | undefined, ...path: string[]) => {
      const file = join(member?.directory ?? "", ...path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, "");
      return file;
    };
    const kept = [put(opened, "identity.json"), put(opened, "log", "1"), put(foreign, "letter.txt")];
    const cleared = put(cutShort, "identity.json");
    for (const member of members) await clear(member);
    expect(members.map(isMade)).toEqual([true, false, false]);
    expect([...kept, cleared].map((file) => existsSync(file))).toEqual([true, true, true, false]);
  });

  test.each([
    ["fewer replicas than there are", 1, undefined, /holds 2 replicas: give --replicas 2/],
    ["a file that is no JSON", 2, "{", /cluster\.json is damaged/],
    ["a member without a port", 2, '{"port":1,"members":[{"name":"m1"}]}', /cluster\.json is damaged/],
    [
      "a name that leads elsewhere",
      2,
      '{"port":1,"members":[{"name":"../x","port":1,"peerPort":2,"gossipPort":3}]}',
      /is damaged/,
    ],
  ])("%s is told", async (_, replicas, content, message) => {
    const directory = fresh();
    await openLayout(directory, 2, 0, 6443);
    const file = join(directory, "cluster.json");
    if (content !== undefined) writeFileSync(file, content);
    const before = readFileSync(file, "utf8");
    await expect(openLayout(directory, replicas, 0, 6443)).rejects.toThrow(message);
    expect(readFileSync(file, "utf8")).toBe(before);
  });
});
