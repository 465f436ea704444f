import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually, MemberProcess } from "./member-process.ts";

/** Custom resources on three replicas: if one replica reports a definition as established, all serve it. */

const root = mkdtempSync(join(tmpdir(), "quorate-custom-"));
const members: MemberProcess[] = [];
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const group = "cluster.example.com";
const definitionsCount = 8;
const startMsMax = 120_000;

beforeAll(async () => {
  for (const name of ["a", "b", "c"]) members.push(await MemberProcess.create(root, name));
  const [first, ...others] = members as [MemberProcess, ...MemberProcess[]];
  await first.start(["cluster", "init"]);
  const invitation = await first.invitation();
  for (const member of others) await member.start(invitation);
  await eventually(async () => {
    const { code, out } = await first.run("status", "-o", "json");
    const roles = code === 0 ? JSON.parse(out).members.map(({ role }: { role: string }) => role) : [];
    return roles.filter((role: string) => role !== "learner").length === members.length ? roles : undefined;
  });
}, startMsMax);

afterAll(async () => {
  await Promise.all(members.map((member) => member.stop("SIGKILL")));
  rmSync(root, { recursive: true });
});

function definition(at: number): object {
  const plural = `things${at}`;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Cluster",
      names: { plural, kind: `Thing${at}` },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  };
}

test(
  "a kind that one replica calls established is served by all of them at once",
  async () => {
    for (let at = 0; at < definitionsCount; at++) {
      const [writer, reader, user] = [0, 1, 2].map((offset) => members[(at + offset) % members.length]) as [
        MemberProcess,
        MemberProcess,
        MemberProcess,
      ];
      const created = await writer.request("POST", definitions, definition(at));
      expect(created.code, JSON.stringify(created.json)).toBe(201);
      await eventually(async () => {
        const { json } = await reader.request("GET", `${definitions}/things${at}.${group}`);
        const conditions: { type: string; status: string }[] = json.status?.conditions ?? [];
        return conditions.some(({ type, status }) => type === "Established" && status === "True") ? true : undefined;
      });
      const path = `/apis/${group}/v1/things${at}`;
      const object = { apiVersion: `${group}/v1`, kind: `Thing${at}`, metadata: { name: "a" } };
      const used = await user.request("POST", path, object);
      expect({ at, code: used.code, message: used.json.message }).toEqual({ at, code: 201, message: undefined });
      expect((await writer.request("GET", `${path}/a`)).code).toBe(200);
    }
  },
  startMsMax,
);

test(
  "a kind that is deleted on one replica is gone from all of them",
  async () => {
    const [first, ...others] = members as [MemberProcess, ...MemberProcess[]];
    await first.request("DELETE", `${definitions}/things0.${group}`);
    const path = `/apis/${group}/v1/things0`;
    for (const member of [first, ...others]) {
      await eventually(async () => ((await member.request("GET", path)).code === 404 ? true : undefined));
    }
  },
  startMsMax,
);
