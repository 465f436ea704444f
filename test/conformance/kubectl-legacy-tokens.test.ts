import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningServer } from "../../src/index.ts";
import { startServer } from "../etcd/start-server.ts";
import { HastenedClock } from "./hastened-clock.ts";
import { Kubectl } from "./kubectl.ts";

setDefaultTimeout(60_000);

const daySeconds = 24 * 3_600;
const clock = new HastenedClock();
let server: RunningServer;
let kubectl: Kubectl;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "quorate-legacy-tokens-"));
  const tokenAuthFile = join(directory, "tokens");
  await writeFile(tokenAuthFile, "password,administrator,1,system:masters\n");
  server = await startServer({ clock, tokenAuthFile });
  // Certificates expire as the years pass. The server renews its own, but for kubectl the new ones are not valid yet.
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server: server.url, "insecure-skip-tls-verify": true } }],
    users: [{ name: "u", user: { token: "password" } }],
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    "current-context": "c",
  };
  kubectl = await Kubectl.open(JSON.stringify(config));
});

afterAll(async () => {
  await kubectl[Symbol.asyncDispose]();
  await server.close({ graceMs: 0 });
  await rm(directory, { recursive: true });
});

async function createToken(name: string): Promise<string> {
  const metadata = { name, annotations: { "kubernetes.io/service-account.name": "robot" } };
  const secret = { apiVersion: "v1", kind: "Secret", metadata, type: "kubernetes.io/service-account-token" };
  await kubectl.ok(["create", "-f", "-"], { input: JSON.stringify(secret) });
  await kubectl.ok(["wait", `secret/${name}`, "--for=jsonpath={.data.token}", "--timeout=10s"]);
  return atob((await kubectl.get(["secret", name])).data.token);
}

const whoami = async (token: string) => (await kubectl.run(["auth", "whoami", `--token=${token}`])).code;
const secrets = async () => {
  const { items } = await kubectl.get(["secrets"]);
  return (items as any[]).map(({ metadata }) => [
    metadata.name,
    metadata.labels?.["kubernetes.io/legacy-token-invalid-since"] !== undefined,
  ]);
};

test("a token that nobody uses is invalid after a year, and removed after another", async () => {
  await kubectl.ok(["create", "serviceaccount", "robot"]);
  const used = await createToken("used");
  const unused = await createToken("unused");
  // Old releases made such Secrets themselves, and named them in the account.
  const named = { secrets: [{ name: "used" }, { name: "unused" }] };
  await kubectl.ok(["patch", "serviceaccount", "robot", "-p", JSON.stringify(named)]);

  await clock.skip(364 * daySeconds);
  expect(await whoami(used)).toBe(0);
  expect(await secrets()).toEqual([
    ["unused", false],
    ["used", false],
  ]);
  await clock.skip(4 * daySeconds);
  expect(await secrets()).toEqual([
    ["unused", true],
    ["used", false],
  ]);
  expect([await whoami(used), await whoami(unused)]).toEqual([0, 1]);

  await clock.skip(360 * daySeconds);
  expect(await whoami(used)).toBe(0);
  await clock.skip(7 * daySeconds);
  expect(await secrets()).toEqual([["used", false]]);
});
