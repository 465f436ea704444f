import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually, MemberProcess } from "./member-process.ts";

/** A server of several processes, as its users see it. Every request below opens a connection, so any process may answer. */

const root = mkdtempSync(join(tmpdir(), "quorate-serving-"));
const auditLog = join(root, "audit.log");
const policy = join(root, "policy.yaml");
/** The place for temporary files of the server, which inherits it. */
const temporary = join(root, "tmp");
const { TMPDIR: temporaryBefore } = process.env;
const encryption = join(root, "encryption.yaml");
const processes = 2;
const keyText = Buffer.alloc(32, 7).toString("base64");
/** Enough connections that one process is unlikely to get them all. */
const many = 20;
const configMaps = "/api/v1/namespaces/default/configmaps";
const configMap = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { name } });

let server: MemberProcess;

function flags(of: MemberProcess): string[] {
  const place = ["--data-dir", of.directory, "--secure-port", `${of.port}`];
  const audit = ["--audit-policy-file", policy, "--audit-log-path", auditLog];
  return [...place, ...audit, "--encryption-provider-config", encryption, "--serving-processes", `${processes}`];
}

/** Resolves when all processes accept requests. */
async function ready(): Promise<void> {
  await eventually(async () => ((await gauge("quorate_serving_processes_ready")) === processes ? true : undefined));
}

async function metrics(): Promise<string> {
  return (await server.fetch("GET", "/metrics")).text();
}

async function gauge(name: string): Promise<number> {
  const line = (await metrics()).split("\n").find((line) => line.startsWith(`${name} `));
  return Number(line?.split(" ")[1]);
}

/** Returns the serving processes. */
function children(): number[] {
  const { stdout } = Bun.spawnSync(["ps", "-o", "pid=", "--ppid", `${server.pid}`]);
  return stdout.toString().split("\n").map(Number).filter(Boolean);
}

const times = <T>(count: number, run: (at: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, at) => run(at)));

interface WatchEvent {
  readonly type: string;
  readonly object: { readonly metadata: { readonly name: string; readonly resourceVersion: string } };
}

/** Watches until `isDone`, and returns the events. */
async function watch(path: string, isDone: (events: readonly WatchEvent[]) => boolean): Promise<WatchEvent[]> {
  const response = await server.fetch("GET", path);
  const events: WatchEvent[] = [];
  let rest = "";
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    const lines = (rest + new TextDecoder().decode(chunk)).split("\n");
    rest = lines.pop() ?? "";
    events.push(...lines.map((line) => JSON.parse(line) as WatchEvent));
    if (isDone(events)) break;
  }
  return events;
}

beforeAll(async () => {
  writeFileSync(
    policy,
    "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n",
  );
  writeFileSync(
    encryption,
    JSON.stringify({
      apiVersion: "apiserver.config.k8s.io/v1",
      kind: "EncryptionConfiguration",
      resources: [{ resources: ["secrets"], providers: [{ secretbox: { keys: [{ name: "one", secret: keyText }] } }] }],
    }),
  );
  mkdirSync(temporary);
  process.env["TMPDIR"] = temporary;
  server = await MemberProcess.create(root, "server");
  await server.start(["up"], flags(server));
  await ready();
}, 60_000);

afterAll(async () => {
  await server.stop();
  if (temporaryBefore === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = temporaryBefore;
  rmSync(root, { recursive: true });
});

describe("several serving processes", () => {
  test("show each other's writes at once, and their watches hear all of them in order", async () => {
    const { json } = await server.request("GET", configMaps);
    const from = `${configMaps}?watch=1&resourceVersion=${json.metadata.resourceVersion}`;
    const watches = times(many, () => watch(from, (events) => events.length === 2 * many));
    await times(many, async (at) => {
      const name = `seen-${at}`;
      expect((await server.request("POST", configMaps, configMap(name))).code).toBe(201);
      // Another connection, and so perhaps another process.
      expect((await server.request("GET", `${configMaps}/${name}`)).json.data).toEqual({ name });
      const changed = { ...configMap(name), data: { changed: name } };
      expect((await server.request("PUT", `${configMaps}/${name}`, changed)).code).toBe(200);
    });
    const [first, ...others] = (await watches).map((events) =>
      events.map(({ type, object }) => `${type} ${object.metadata.name} ${object.metadata.resourceVersion}`),
    );
    expect(first).toHaveLength(2 * many);
    for (const heard of others) expect(heard).toEqual(first as string[]);
    const versions = (first ?? []).map((line) => Number(line.split(" ")[2]));
    expect(versions).toEqual([...versions].sort((one, other) => one - other));
  }, 60_000);

  test("read what any of them has encrypted, and the data directory holds only ciphertext", async () => {
    const secrets = "/api/v1/namespaces/default/secrets";
    const text = "the words of a secret that nobody else may read";
    await times(many, async (at) => {
      const secret = { metadata: { name: `sealed-${at}` }, stringData: { text } };
      expect((await server.request("POST", secrets, secret)).code).toBe(201);
      const { json } = await server.request("GET", `${secrets}/sealed-${at}`);
      expect(Buffer.from(json.data.text, "base64").toString()).toBe(text);
    });
    const { exitCode } = Bun.spawnSync([
      "grep",
      "-r",
      "-q",
      btoa(text),
      join(server.directory, "state"),
      join(server.directory, "log"),
    ]);
    expect(exitCode).toBe(1);
  }, 60_000);

  test("serve an old revision, and a watch from before their start", async () => {
    const { json: before } = await server.request("GET", configMaps);
    await server.request("POST", configMaps, configMap("later"));
    const { resourceVersion } = before.metadata;
    const names = (items: any[]) => items.map(({ metadata }) => metadata.name);
    await times(many, async () => {
      const { json } = await server.request(
        "GET",
        `${configMaps}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`,
      );
      expect(names(json.items)).toEqual(names(before.items));
      const events = await watch(
        `${configMaps}?watch=1&resourceVersion=${resourceVersion}`,
        ({ length }) => length === 1,
      );
      expect(events.map(({ object }) => object.metadata.name)).toEqual(["later"]);
    });
  }, 60_000);

  test("all serve a custom kind once any of them says that it is established", async () => {
    const names = { plural: "wheels", singular: "wheel", kind: "Wheel" };
    const schema = { openAPIV3Schema: { type: "object", properties: { size: { type: "integer" } } } };
    const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for (let round = 0; round < 5; round++) {
      const group = `r${round}.example.com`;
      const created = await server.request("POST", definitions, {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name: `wheels.${group}` },
        spec: { group, names, scope: "Cluster", versions: [{ name: "v1", served: true, storage: true, schema }] },
      });
      expect(created.code).toBe(201);
      await eventually(async () => {
        const { json } = await server.request("GET", `${definitions}/wheels.${group}`);
        return json.status?.conditions?.find(({ type, status }: any) => type === "Established" && status === "True");
      });
      const codes = await times(many, async (at) => {
        const wheel = { apiVersion: `${group}/v1`, kind: "Wheel", metadata: { name: `w${at}` }, size: at };
        return (await server.request("POST", `/apis/${group}/v1/wheels`, wheel)).code;
      });
      expect(new Set(codes)).toEqual(new Set([201]));
    }
  }, 60_000);

  test("never exceed a quota together", async () => {
    await server.request("POST", "/api/v1/namespaces", { metadata: { name: "limited" } });
    const limited = "/api/v1/namespaces/limited";
    const quota = { metadata: { name: "few" }, spec: { hard: { "count/secrets": "7" } } };
    await server.request("POST", `${limited}/resourcequotas`, quota);
    await eventually(async () => (await server.request("GET", `${limited}/resourcequotas/few`)).json.status?.hard);
    const codes = await times(
      3 * many,
      async (at) => (await server.request("POST", `${limited}/secrets`, { metadata: { name: `s${at}` } })).code,
    );
    expect(codes.filter((code) => code === 201)).toHaveLength(7);
    expect((await server.request("GET", `${limited}/secrets`)).json.items).toHaveLength(7);
  }, 60_000);

  test("leave nothing behind in a namespace that is deleted while they create in it", async () => {
    await server.request("POST", "/api/v1/namespaces", { metadata: { name: "brief" } });
    let isOver = false;
    const creating = times(many, async (writer) => {
      for (let at = 0; !isOver && at < 200; at++) {
        const { code } = await server.request(
          "POST",
          "/api/v1/namespaces/brief/configmaps",
          configMap(`c-${writer}-${at}`),
        );
        if (code === 404) return;
      }
    });
    await Bun.sleep(200);
    await server.request("DELETE", "/api/v1/namespaces/brief");
    await eventually(async () =>
      (await server.request("GET", "/api/v1/namespaces/brief")).code === 404 ? true : undefined,
    );
    isOver = true;
    await creating;
    const left = (await server.request("GET", "/api/v1/configmaps")).json.items;
    expect(left.filter(({ metadata }: any) => metadata.namespace === "brief")).toEqual([]);
  }, 60_000);
});

describe("the whole server", () => {
  test("is administered through any process", async () => {
    const answers = await times(many, async () => server.request("GET", "/cluster/status"));
    expect(new Set(answers.map(({ code, json }) => `${code} ${json.role}`))).toEqual(new Set(["200 leader"]));
    const denied = await times(many, () => server.fetch("GET", "/cluster/status", { token: "wrong" }));
    expect(new Set(denied.map(({ status }) => status))).toEqual(new Set([401]));
    expect((await server.run("snapshot", "save", join(root, "snapshot"))).code).toBe(0);
  }, 60_000);

  test("has one answer to /metrics, which adds up all processes", async () => {
    const counted = async () => {
      const text = await metrics();
      const created = /^apiserver_request_total\{verb="POST",[^}]*resource="secrets"[^}]*code="201"\} (\d+)$/m.exec(
        text,
      );
      const objects = /^apiserver_storage_objects\{resource="secrets"\} (\d+)$/m.exec(text);
      expect(text.match(/^# TYPE apiserver_request_total /gm)).toHaveLength(1);
      return { created: Number(created?.[1] ?? 0), objects: Number(objects?.[1]) };
    };
    const before = await counted();
    const secrets = "/api/v1/namespaces/default/secrets";
    await times(many, (at) => server.request("POST", secrets, { metadata: { name: `counted-${at}` } }));
    const after = await times(many, counted);
    expect(new Set(after.map(({ created }) => created))).toEqual(new Set([before.created + many]));
    expect(new Set(after.map(({ objects }) => objects))).toEqual(new Set([before.objects + many]));
  }, 60_000);

  test("writes one audit log with whole lines, one for each request", async () => {
    const url = (at: number) => `/api/v1/namespaces/audited-${at}/configmaps`;
    await times(3 * many, (at) => server.request("GET", url(at)));
    const uris = await eventually(async () => {
      const events = readFileSync(auditLog, "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as { requestURI: string });
      const found = events.map(({ requestURI }) => requestURI).filter((uri) => uri.includes("/audited-"));
      return found.length >= 3 * many ? found : undefined;
    });
    expect(uris.sort()).toEqual(Array.from({ length: 3 * many }, (_, at) => url(at)).sort());
  }, 60_000);

  test("presents a new authority on every connection, as soon as the command has ended", async () => {
    const before = server.ca;
    for (const step of [[], ["--finish"]]) {
      const { code, err } = await server.run("cluster", "rotate-ca", "--api", ...step);
      if (code !== 0) throw new Error(err);
    }
    expect(server.ca).not.toBe(before);
    const codes = await times(many, async () => (await server.request("GET", configMaps)).code);
    expect(new Set(codes)).toEqual(new Set([200]));
  }, 60_000);
});

describe("a process that is killed", () => {
  test("is replaced, and takes no acknowledged write with it", async () => {
    const killed = children();
    expect(killed).toHaveLength(processes);
    let isOver = false;
    const acknowledged: string[] = [];
    const writing = times(8, async (writer) => {
      for (let at = 0; !isOver; at++) {
        const name = `kept-${writer}-${at}`;
        const code = await server.request("POST", configMaps, configMap(name)).then(
          ({ code }) => code,
          () => 0,
        );
        if (code === 201) acknowledged.push(name);
      }
    });
    for (const pid of killed) {
      await Bun.sleep(300);
      process.kill(pid, "SIGKILL");
    }
    await eventually(async () => (children().every((pid) => !killed.includes(pid)) ? true : undefined));
    await ready();
    isOver = true;
    await writing;
    expect(acknowledged.length).toBeGreaterThan(0);
    await times(many, async () => {
      const { json } = await server.request("GET", configMaps);
      const stored = new Set(json.items.map(({ metadata }: any) => metadata.name));
      expect(acknowledged.filter((name) => !stored.has(name))).toEqual([]);
    });
  }, 60_000);

  test("takes the others with it if it kept the store, and a restart has every write", async () => {
    const served = children();
    expect((await server.request("POST", configMaps, configMap("before-the-kill"))).code).toBe(201);
    await server.stop("SIGKILL");
    await eventually(async () => (served.every((pid) => !isRunning(pid)) ? true : undefined));
    expect(readdirSync(temporary)).toEqual([]);
    await server.start(["up"], flags(server));
    await ready();
    const codes = await times(many, async () => (await server.request("GET", `${configMaps}/before-the-kill`)).code);
    expect(new Set(codes)).toEqual(new Set([200]));
  }, 60_000);
});

test("a signal to stop ends every process in order", async () => {
  const served = children();
  const { json } = await server.request("GET", configMaps);
  const path = `${configMaps}?watch=1&resourceVersion=${json.metadata.resourceVersion}`;
  const watches = await times(many, () => server.fetch("GET", path));
  const told = server.err.length;
  await server.stop("SIGTERM");
  // A watch that is cut off would reject.
  expect(await times(many, (at) => (watches[at] as Response).text())).toEqual(Array.from({ length: many }, () => ""));
  expect(served.filter(isRunning)).toEqual([]);
  expect(server.err.slice(told)).toBe("");
  await server.start(["up"], flags(server));
}, 60_000);

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
