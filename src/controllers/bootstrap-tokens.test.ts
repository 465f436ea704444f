import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { flattenedVerify } from "jose";
import type { ConfigMap } from "../api/types/core-v1.ts";
import { startBootstrapSigner, startTokenCleaner } from "./bootstrap-tokens.ts";
import { ControllerTest } from "./testing.ts";

const kubeconfig = "clusters:\n- cluster: {server: https://203.0.113.1:6443}\n  name: ''\n";
const secretPart = "0123456789abcdef";
let objects: ControllerTest;
let running: Disposable | undefined;

beforeEach(async () => {
  objects = await ControllerTest.open();
  for (const name of ["kube-system", "kube-public"]) {
    await objects.create("namespaces", { kind: "Namespace", metadata: { name } });
  }
});

afterEach(async () => {
  running?.[Symbol.dispose]();
  await objects[Symbol.asyncDispose]();
  expect(objects.errors).toEqual([]);
});

async function start(controller: typeof startBootstrapSigner, signWith: "token" | "secret" = "token"): Promise<void> {
  const [secrets, configMaps] = [objects.registry("secrets"), objects.registry("configmaps")];
  running = controller({ ...objects, secrets, configMaps, signWith });
  await objects.pass();
}

async function createToken(
  id: string,
  change: Record<string, string> = {},
  name = `bootstrap-token-${id}`,
): Promise<void> {
  const values = { "token-id": id, "token-secret": secretPart, "usage-bootstrap-signing": "true", ...change };
  const data = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
  );
  const metadata = { name, namespace: "kube-system" };
  await objects.create("secrets", { kind: "Secret", metadata, type: "bootstrap.kubernetes.io/token", data });
  await objects.pass();
}

const tokens = () => objects.list<{ metadata: { name: string } }>("secrets").map(({ metadata }) => metadata.name);
const inMs = (ms: number) => new Date(objects.clock.nowMs() + ms).toISOString();
const info = () => objects.get<ConfigMap>("configmaps", "cluster-info", "kube-public")?.data ?? {};
const createInfo = (data: Record<string, string>) =>
  objects.create("configmaps", {
    kind: "ConfigMap",
    metadata: { name: "cluster-info", namespace: "kube-public" },
    data,
  });

/** Verifies a signature as a client does that knows the contents. */
function verify(detached: string, payload: string, key: string) {
  const [header = "", , signature = ""] = detached.split(".");
  const encoded = Buffer.from(payload).toString("base64url");
  return flattenedVerify({ protected: header, payload: encoded, signature }, Buffer.from(key), {
    algorithms: ["HS256"],
  });
}

describe("cluster-info", () => {
  test.each([
    ["token", `abcdef.${secretPart}`, secretPart],
    ["secret", secretPart, `abcdef.${secretPart}`],
  ] as const)("is signed with the %s", async (signWith, key, other) => {
    await createInfo({ kubeconfig });
    await createToken("abcdef");
    await start(startBootstrapSigner, signWith);
    const detached = info()["jws-kubeconfig-abcdef"] ?? "";
    expect(detached.split(".")[1]).toBe("");
    const { protectedHeader, payload } = await verify(detached, kubeconfig, key);
    expect(protectedHeader).toEqual({ alg: "HS256", kid: "abcdef" });
    expect(Buffer.from(payload).toString()).toBe(kubeconfig);
    expect(verify(detached, kubeconfig, other)).rejects.toThrow("signature verification failed");
    expect(verify(detached, `${kubeconfig} `, key)).rejects.toThrow("signature verification failed");
  });

  test("is signed anew when it changes, and loses signatures of tokens that are gone", async () => {
    await createInfo({ kubeconfig, note: "x" });
    await start(startBootstrapSigner);
    await createToken("abcdef");
    const first = info()["jws-kubeconfig-abcdef"];
    const more = { kubeconfig: `${kubeconfig}users: []\n` };
    const change = (old: ConfigMap) => ({ ...old, data: { ...old.data, ...more } });
    await objects.update("configmaps", "cluster-info", change, undefined, "kube-public");
    expect(info()["jws-kubeconfig-abcdef"]).toBeDefined();
    expect(info()["jws-kubeconfig-abcdef"]).not.toBe(first as string);
    await objects.delete("secrets", "bootstrap-token-abcdef", {}, "kube-system");
    expect(info()["jws-kubeconfig-abcdef"]).toBeUndefined();
    expect(info()["note"]).toBe("x");
  });

  test.each([
    ["may not sign", { "usage-bootstrap-signing": "false" }, undefined],
    ["has expired", { expiration: "1970-01-01T00:00:00Z" }, undefined],
    ["has an unreadable expiration", { expiration: "soon" }, undefined],
    ["lacks its secret part", { "token-secret": "" }, undefined],
    ["names another token", { "token-id": "ghijkl" }, undefined],
    ["has a malformed id", { "token-id": "ABC" }, "bootstrap-token-abc"],
  ])("is not signed by a token that %s", async (_, change, name) => {
    await createInfo({ kubeconfig });
    await createToken("abcdef", change, name);
    await start(startBootstrapSigner);
    expect(Object.keys(info())).toEqual(["kubeconfig"]);
  });

  test("loses a signature at the moment in which its token expires", async () => {
    await createInfo({ kubeconfig });
    await createToken("abcdef", { expiration: inMs(60_000) });
    await start(startBootstrapSigner);
    await objects.pass(59_000);
    expect(info()["jws-kubeconfig-abcdef"]).toBeDefined();
    await objects.pass(2_000);
    expect(Object.keys(info())).toEqual(["kubeconfig"]);
  });

  test("stays as it is without a kubeconfig", async () => {
    await createInfo({ "jws-kubeconfig-abcdef": "kept" });
    await createToken("abcdef");
    await start(startBootstrapSigner);
    expect(info()).toEqual({ "jws-kubeconfig-abcdef": "kept" });
  });
});

test("tokens are removed when they expire, whatever their name", async () => {
  await createToken("abcdef", { expiration: inMs(60_000) });
  await createToken("ghijkl", { expiration: inMs(90_000) }, "other");
  await createToken("mnopqr");
  await createToken("stuvwx", { expiration: "soon" });
  await start(startTokenCleaner);
  expect(tokens()).toEqual(["bootstrap-token-abcdef", "bootstrap-token-mnopqr", "other"]);
  await objects.pass(61_000);
  expect(tokens()).toEqual(["bootstrap-token-mnopqr", "other"]);
  await objects.pass(30_000);
  expect(tokens()).toEqual(["bootstrap-token-mnopqr"]);
});
