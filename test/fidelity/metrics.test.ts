import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TestServer } from "../integration/server.ts";
import { parseExposition, type TextFamily } from "./exposition-text.ts";
import { knownFamilies, ownFamilies, unservedFamilies } from "./metric-families.ts";

const dataDir = mkdtempSync(join(tmpdir(), "metrics-"));
const known = knownFamilies();
let server: TestServer;
let served: Map<string, TextFamily>;

beforeAll(async () => {
  server = await TestServer.start({ dataDir, inMemory: false });
  await useServer();
  const texts = await Promise.all(["/metrics", "/metrics/slis"].map(async (path) => (await server.get(path)).text));
  served = new Map(texts.flatMap((text) => [...parseExposition(text)]));
}, 60_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(dataDir, { recursive: true });
});

/** Sends requests of many kinds, so that families have samples. */
async function useServer(): Promise<void> {
  const configMaps = "/api/v1/namespaces/default/configmaps";
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
  await server.post(configMaps, object);
  await server.post(`${configMaps}?dryRun=All&fieldValidation=Strict`, object);
  await server.put(`${configMaps}/a`, { ...object, data: { key: "value" } });
  await server.get("/api/v1/configmaps?limit=1");
  await server.get("/api/v1/endpoints");
  await server.get("/readyz");
  await server.get("/nowhere", { token: "" });
  await server.get(
    "/api/v1/pods?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
  );
  await server.delete(`${configMaps}/a`);
}

const labelsOf = ({ samples }: TextFamily) =>
  new Set(
    samples.map(({ labels }) =>
      [...labels.keys()]
        .filter((name) => name !== "le" && name !== "quantile")
        .toSorted()
        .join(),
    ),
  );

describe("families of metrics", () => {
  test("those that upstream promises are served, or it is known why not", () => {
    const promised = [...known].filter(([, { stability }]) => stability !== "ALPHA").map(([name]) => name);
    expect(promised.filter((name) => !served.has(name)).toSorted()).toEqual([...unservedFamilies.keys()].toSorted());
  });

  test("all others are upstream's, or our own", () => {
    expect([...served.keys()].filter((name) => !known.has(name) && !ownFamilies.test(name))).toEqual([]);
  });

  test("types, labels and buckets are upstream's", () => {
    const differences = [...served].flatMap(([name, family]) => {
      const upstream = known.get(name);
      if (upstream === undefined) return [];
      const { type, labels, bounds } = upstream;
      const own = { type: family.type, labels: [...labelsOf(family)], bounds: boundsOf(family) };
      const wanted = {
        type,
        labels: family.samples.length === 0 ? [] : [labels.join()],
        bounds: bounds.length === 0 || own.bounds.length === 0 ? own.bounds : bounds,
      };
      return Bun.deepEquals(own, wanted) ? [] : [{ name, own, wanted }];
    });
    expect(differences).toEqual([]);
  });

  test("help begins with upstream's promise", async () => {
    const { text } = await server.get("/metrics");
    const grades = [...text.matchAll(/^# HELP (\S+) (?:\[([A-Z]+)\])?/gm)].flatMap(([, name = "", grade]) => {
      const stability = known.get(name)?.stability;
      return stability === undefined || stability === grade ? [] : [`${name} ${grade}`];
    });
    expect(grades).toEqual([]);
  });

  test("requests of every kind have been counted", () => {
    const sampled = [
      "apiserver_request_total",
      "apiserver_request_sli_duration_seconds",
      "apiserver_request_body_size_bytes",
      "apiserver_watch_list_duration_seconds",
      "apiserver_requested_deprecated_apis",
      "apiserver_storage_size_bytes",
      "apiserver_selfrequest_total",
      "etcd_request_duration_seconds",
      "kubernetes_healthcheck",
      "rest_client_requests_total",
      "workqueue_depth",
    ];
    expect(sampled.filter((name) => (served.get(name)?.samples.length ?? 0) === 0)).toEqual([]);
  });
});

function boundsOf({ samples }: TextFamily): number[] {
  const bounds = samples.flatMap(({ labels }) => labels.get("le") ?? []);
  return [...new Set(bounds)].filter((bound) => bound !== "+Inf").map(Number);
}
