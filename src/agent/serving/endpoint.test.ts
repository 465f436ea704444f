import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { ProbeCount } from "../pods/probes/probe-count.ts";
import { RuntimeError } from "../runtime/runtime.ts";
import { type Endpoint, openEndpoint } from "./endpoint.ts";
import type { EndpointOptions } from "./endpoint-options.ts";
import {
  endpointOptions,
  KeptLog,
  logLines,
  runningPod,
  ScriptedDirectory,
  ScriptedReviews,
  scriptedRuntime,
  type TestCertificates,
  testCertificates,
} from "./testing.ts";

let certificates: TestCertificates;
const home = mkdtempSync(join(tmpdir(), "quorate-endpoint-"));
const directory = new ScriptedDirectory();
const runtime = scriptedRuntime({
  logs: () => logLines("one\n", "two\n", "three\n"),
  async exec(_id, command, _options, streams) {
    await streams.stderr?.(Buffer.from("and a warning\n"));
    await streams.stdout?.(Buffer.from(`${command.join("|")}\n`));
    return command[0] === "false" ? 3 : 0;
  },
  async checkpoint(id, location) {
    if (id === "web-side") throw new RuntimeError("Unsupported", "unknown method CheckpointContainer", "Unimplemented");
    writeFileSync(location, "archive");
  },
});
directory.add(runningPod(runtime, "web"));

beforeAll(async () => {
  certificates = await testCertificates();
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

interface Asking {
  readonly method?: string;
  readonly token?: string;
  readonly client?: { readonly key: string; readonly cert: string };
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

async function ask({ port }: Pick<Endpoint, "port">, path: string, asking: Asking = {}) {
  const { method = "GET", token, client, headers = {}, body } = asking;
  const response = await fetch(`https://127.0.0.1:${port}${path}`, {
    method,
    headers: token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` },
    tls: { ca: certificates.authority.cert, ...client },
    redirect: "manual",
    ...(body === undefined ? {} : { body }),
  });
  return { code: response.status, text: await response.text(), headers: response.headers };
}

async function withEndpoint(
  options: Partial<EndpointOptions>,
  run: (endpoint: Endpoint) => Promise<void>,
): Promise<void> {
  const endpoint = await openEndpoint(endpointOptions(directory, certificates.tls, { rootDir: home, ...options }));
  try {
    await run(endpoint);
  } finally {
    await endpoint.close(0);
  }
}

/** Every route, with a request that succeeds or gets as far as the route's own refusal. */
const everyRoute = [
  ["GET", "/healthz", "healthz proxy"],
  ["GET", "/healthz/ping", "healthz proxy"],
  ["GET", "/pods", "pods proxy"],
  ["GET", "/runningpods/", "pods proxy"],
  ["GET", "/stats/summary", "stats"],
  ["POST", "/stats/summary", "stats"],
  ["GET", "/metrics", "metrics"],
  ["GET", "/metrics/cadvisor", "metrics"],
  ["GET", "/metrics/resource", "metrics"],
  ["GET", "/metrics/probes", "metrics"],
  ["GET", "/metrics/slis", "metrics"],
  ["GET", "/configz", "configz proxy"],
  ["GET", "/logs/", "log"],
  ["GET", "/logs/x", "log"],
  ["GET", "/containerLogs/default/web/main", "proxy"],
  ["GET", "/exec/default/web/main?command=x&output=1", "proxy"],
  ["POST", "/exec/default/web/main?command=x&output=1", "proxy"],
  ["POST", "/exec/default/web/uid-of-web/main?command=x&output=1", "proxy"],
  ["GET", "/attach/default/web/main?output=1", "proxy"],
  ["POST", "/attach/default/web/uid-of-web/main?output=1", "proxy"],
  ["GET", "/portForward/default/web", "proxy"],
  ["POST", "/portForward/default/web/uid-of-web", "proxy"],
  ["POST", "/run/default/web/main?cmd=ls", "proxy"],
  ["POST", "/run/default/web/uid-of-web/main?cmd=ls", "proxy"],
  ["POST", "/checkpoint/default/web/main", "checkpoint"],
  ["GET", "/statusz", "statusz"],
  ["GET", "/flagz", "configz"],
  ["GET", "/debug/pprof/profile", "proxy"],
  ["PUT", "/debug/flags/v", "proxy"],
  ["GET", "/nothing", "proxy"],
] as const;
const verbs: Readonly<Record<string, string>> = { GET: "get", POST: "create", PUT: "update" };

describe("access", () => {
  const webhook = { anonymous: false, tokenWebhook: true, authorizationMode: "Webhook" } as const;

  test("attack 84: every route refuses a request without credentials, with unknown ones, and a user without permission", async () => {
    const reviews = new ScriptedReviews();
    reviews.tokens.set("good-token", { username: "jane" });
    const log = new KeptLog();
    await withEndpoint({ client: reviews.client, access: webhook, log }, async (endpoint) => {
      for (const [method, path, subresources] of everyRoute) {
        const none = await ask(endpoint, path, { method });
        const unknown = await ask(endpoint, path, { method, token: "bad-token" });
        const forbidden = await ask(endpoint, path, { method, token: "good-token" });
        const text = `Forbidden (user=jane, verb=${verbs[method]}, resource=nodes, subresource(s)=[${subresources}])\n`;
        expect({ path, none: none.code, unknown: unknown.code }).toEqual({ path, none: 401, unknown: 401 });
        expect(none.text).toBe("Unauthorized");
        expect({ path, code: forbidden.code, text: forbidden.text }).toEqual({ path, code: 403, text });
      }
    });
    expect(log.lines.filter((line) => line.includes("good-token") || line.includes("bad-token"))).toEqual([]);
  });

  test.each(everyRoute)("%s %s needs one of %s", async (method, path, subresources) => {
    for (const subresource of subresources.split(" ")) {
      const reviews = new ScriptedReviews();
      reviews.tokens.set("token", { username: "jane" });
      reviews.allowed.add(`jane ${verbs[method]} ${subresource} n1`);
      await withEndpoint({ client: reviews.client, access: webhook }, async (endpoint) => {
        const { code } = await ask(endpoint, path, { method, token: "token" });
        expect([401, 403]).not.toContain(code);
      });
      const asked = reviews.asked.flatMap(({ spec }) => spec.resourceAttributes?.subresource ?? []);
      expect(asked).toEqual(subresources.split(" ").slice(0, asked.length));
    }
  });

  test("a client certificate of the authority is a user with groups, of another one nobody", async () => {
    const reviews = new ScriptedReviews();
    reviews.allowed.add("kube-apiserver get metrics n1");
    const client = await certificates.authority.issue("CN=kube-apiserver, O=masters");
    const stranger = await (await testCertificates()).authority.issue("CN=kube-apiserver");
    await withEndpoint({ client: reviews.client, access: webhook }, async (endpoint) => {
      expect((await ask(endpoint, "/metrics/slis", { client })).code).toBe(200);
      expect((await ask(endpoint, "/metrics/slis", { client: stranger })).code).toBe(401);
    });
    expect(reviews.asked).toMatchObject([
      {
        spec: {
          user: "kube-apiserver",
          groups: ["masters", "system:authenticated"],
          resourceAttributes: { verb: "get", version: "v1", resource: "nodes", subresource: "metrics", name: "n1" },
        },
      },
    ]);
  });

  test("anonymous requests are reviewed like others", async () => {
    const reviews = new ScriptedReviews();
    await withEndpoint({ client: reviews.client, access: { ...webhook, anonymous: true } }, async (endpoint) => {
      expect((await ask(endpoint, "/stats/summary")).text).toBe(
        "Forbidden (user=system:anonymous, verb=get, resource=nodes, subresource(s)=[stats])\n",
      );
    });
  });

  test("answers of the API server are remembered: tokens 2 min, permission 5 min, refusals 30 s", async () => {
    const clock = new ManualClock();
    const reviews = new ScriptedReviews();
    reviews.tokens.set("token", { username: "jane" });
    reviews.allowed.add("jane get stats n1");
    const counts = () =>
      ["tokenreviews", "subjectaccessreviews"].map(
        (resource) => reviews.asked.filter((one) => one.resource === resource).length,
      );
    await withEndpoint({ client: reviews.client, access: webhook, clock }, async (endpoint) => {
      const round = async () => {
        await ask(endpoint, "/stats/summary", { token: "token" });
        await ask(endpoint, "/metrics", { token: "token" });
        return counts();
      };
      expect(await round()).toEqual([1, 2]);
      expect(await round()).toEqual([1, 2]);
      clock.advance(31_000);
      expect(await round()).toEqual([1, 3]);
      clock.advance(90_000);
      expect(await round()).toEqual([2, 4]);
      clock.advance(200_000);
      expect(await round()).toEqual([3, 6]);
    });
  });

  test("without an answer of the API server nobody is let in", async () => {
    const reviews = new ScriptedReviews();
    reviews.isDown = true;
    const client = await certificates.authority.issue("CN=jane");
    const clock = new ManualClock();
    clock.advance(Date.now());
    await withEndpoint({ client: reviews.client, access: webhook, clock }, async (endpoint) => {
      expect((await ask(endpoint, "/metrics", { token: "token" })).code).toBe(401);
      const answer = ask(endpoint, "/metrics", { client });
      let done = false;
      void answer.then(() => {
        done = true;
      });
      while (!done) {
        clock.advance(1_000);
        await Bun.sleep(1);
      }
      const { code, text } = await answer;
      expect({ code, text }).toEqual({
        code: 500,
        text: "Authorization error (user=jane, verb=get, resource=nodes, subresource=metrics)",
      });
    });
  });

  test("a renewed certificate serves new connections", async () => {
    const renewed = await testCertificates();
    await withEndpoint({}, async (endpoint) => {
      endpoint.reload(renewed.tls);
      const response = await fetch(`https://127.0.0.1:${endpoint.port}/healthz`, {
        tls: { ca: renewed.authority.cert },
      });
      expect(await response.text()).toBe("ok");
    });
  });
});

describe("refusals", () => {
  test.each([
    ["GET", "/nothing", 404, "404: Page Not Found"],
    ["GET", "/stats", 404, "404: Page Not Found"],
    ["GET", "/", 404, "404: Page Not Found"],
    ["POST", "/pods", 405, "405: Method Not Allowed"],
    ["DELETE", "/containerLogs/default/web/main", 405, "405: Method Not Allowed"],
    ["GET", "/checkpoint/default/web/main", 405, "405: Method Not Allowed"],
    ["GET", "/run/default/web/main", 405, "405: Method Not Allowed"],
    ["GET", "/containerLogs/default/missing/main", 404, 'pod "missing" does not exist'],
    ["GET", "/containerLogs/default/web/other", 404, 'container "other" not found in pod "web"'],
    ["GET", "/containerLogs/default//main", 400, '{"message": "Missing podID."}'],
    ["GET", "/containerLogs//web/main", 400, '{"message": "Missing podNamespace."}'],
    ["GET", "/containerLogs/default/web/main?tailLines=x", 400, '{"message": "Unable to decode query."}'],
    ["GET", "/containerLogs/default/web/main?sinceTime=x", 400, '{"message": "Unable to decode query."}'],
    ["GET", "/containerLogs/default/web/main?tailLines=-1", 422, '{"message": "Invalid request."}'],
    ["GET", "/containerLogs/default/web/main?limitBytes=0", 422, '{"message": "Invalid request."}'],
    ["GET", "/containerLogs/default/web/main?sinceSeconds=0", 422, '{"message": "Invalid request."}'],
    [
      "GET",
      "/containerLogs/default/web/main?sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z",
      422,
      '{"message": "Invalid request."}',
    ],
    [
      "GET",
      "/containerLogs/default/web/main?stream=Stdout",
      400,
      'unable to return the given log stream: "Stdout". Please enable PodLogsQuerySplitStreams feature gate in kubelet',
    ],
    [
      "GET",
      "/containerLogs/default/web/main?previous=true",
      400,
      'previous terminated container "main" in pod "web" not found',
    ],
    ["POST", "/exec/default/web/main?command=x", 400, "you must specify at least 1 of stdin, stdout, stderr"],
    ["POST", "/exec/default/web/main?error=1&tty=1", 400, "you must specify at least 1 of stdin, stdout, stderr"],
    ["POST", "/exec/default/web/main?output=true", 400, "you must specify at least 1 of stdin, stdout, stderr"],
    ["POST", "/exec/default/missing/main?output=1", 404, "pod does not exist"],
    ["POST", "/exec/default/web/other?output=1", 500, 'container not found ("other")'],
    ["POST", "/exec/default/web/other-uid/main?output=1", 500, 'container not found ("main")'],
    ["POST", "/exec/default/web/main?output=1", 400, "Upgrade request required"],
    ["POST", "/attach/default/web/other?output=1", 500, "container other not found in pod web_default"],
    ["POST", "/portForward/default/missing", 404, "pod does not exist"],
    ["POST", "/portForward/default/web/other-uid", 404, "pod not found"],
    ["POST", "/portForward/default/web", 400, "Upgrade request required"],
    ["POST", "/run/default/missing/main?cmd=ls", 404, "pod does not exist"],
    ["POST", "/run/default/web/other?cmd=ls", 500, 'container not found ("other")'],
    ["POST", "/run/default/web/main?cmd=false", 500, "command 'false' exited with 3: and a warning\n"],
    ["POST", "/checkpoint/default/missing/main", 404, "pod does not exist"],
    ["POST", "/checkpoint/default/web/other", 404, "container other does not exist"],
    ["POST", "/checkpoint/default/web/main?timeout=1&timeout=x", 404, "cannot parse value of timeout parameter"],
    [
      "POST",
      "/checkpoint/default/web/side",
      500,
      "checkpointing of default/web/side failed (unknown method CheckpointContainer)",
    ],
    ["GET", "/debug/pprof/profile", 405, "profiling endpoint is disabled.\n"],
    ["PUT", "/debug/flags/v", 405, "flags endpoint is disabled.\n"],
    ["GET", "/%zz", 400, "malformed path"],
    ["GET", "/containerLogs/default/web%2fmain/x", 400, "malformed path"],
  ])("%s %s is a %d", async (method, path, code, text) => {
    await withEndpoint({}, async (endpoint) => {
      const answer = await ask(endpoint, path, { method });
      expect({ code: answer.code, text: answer.text }).toEqual({ code, text });
      expect(answer.headers.get("content-type")).toStartWith("text/plain");
    });
  });

  test("parts that are turned off say so", async () => {
    await withEndpoint({ switches: { enableDebuggingHandlers: false } }, async (endpoint) => {
      for (const path of ["run/a/b/c", "exec/a/b/c", "attach/a/b/c", "portForward/a/b", "containerLogs/a/b/c"]) {
        const { code, text } = await ask(endpoint, `/${path}`);
        expect({ code, text }).toEqual({ code: 405, text: "Debug endpoints are disabled.\n" });
      }
      for (const path of ["runningpods/", "debug/pprof/x", "logs/", "logs/a/b"]) {
        expect((await ask(endpoint, `/${path}`)).text).toBe("Debug endpoints are disabled.\n");
      }
      expect((await ask(endpoint, "/pods")).code).toBe(200);
    });
    await withEndpoint({ switches: { enableDebuggingHandlers: false } }, async (endpoint) => {
      for (const path of ["configz", "statusz", "flagz", "checkpoint/default/web/main"]) {
        const { code, text } = await ask(endpoint, `/${path}`, { method: "POST" });
        expect({ path, code, text }).toEqual({ path, code: 404, text: "404: Page Not Found" });
      }
    });
    await withEndpoint({ switches: { containerCheckpoint: false } }, async (endpoint) => {
      expect((await ask(endpoint, "/checkpoint/default/web/main", { method: "POST" })).code).toBe(404);
      expect((await ask(endpoint, "/configz")).code).toBe(200);
    });
    await withEndpoint({ switches: { enableSystemLogHandler: false } }, async (endpoint) => {
      const { code, text } = await ask(endpoint, "/logs/");
      expect({ code, text }).toEqual({ code: 405, text: "logs endpoint is disabled.\n" });
    });
  });
});

test("/metrics/probes has the results of probes", async () => {
  const own = new ScriptedDirectory();
  const readiness = new ProbeCount("main", "readiness");
  readiness.add(true, 0.02);
  readiness.add(true, 20);
  readiness.add(false, 1);
  const liveness = new ProbeCount("side", "liveness");
  liveness.add(false, 1);
  own.add({ ...runningPod(runtime, "probed"), probes: [readiness, liveness] });
  own.add(runningPod(runtime, "elsewhere", { spec: { nodeName: "n2", containers: [] } }));
  await withEndpoint({ directory: own }, async (endpoint) => {
    const { text } = await ask(endpoint, "/metrics/probes");
    const labels = 'container="main",namespace="default",pod="probed",probe_type="Readiness"';
    expect(text.split("\n").filter((line) => line.startsWith("prober_probe_total"))).toEqual([
      `prober_probe_total{${labels},pod_uid="uid-of-probed",result="failed"} 1`,
      `prober_probe_total{${labels},pod_uid="uid-of-probed",result="successful"} 2`,
      'prober_probe_total{container="side",namespace="default",pod="probed",probe_type="Liveness",pod_uid="uid-of-probed",result="failed"} 1',
    ]);
    expect(text).toContain(`prober_probe_duration_seconds_bucket{${labels},le="0.025"} 1\n`);
    expect(text).toContain(`prober_probe_duration_seconds_count{${labels}} 2\n`);
    expect(text).toMatch(/^process_start_time_seconds \d+/m);
  });
});

describe("the pages about the program", () => {
  const flags = () =>
    new Map([
      ["v", "0"],
      ["max-pods", "110"],
    ]);

  test("are text for people", async () => {
    await withEndpoint({ flags }, async (endpoint) => {
      const status = await ask(endpoint, "/statusz", { headers: { accept: "*/*" } });
      expect(status.headers.get("content-type")).toBe("text/plain; charset=utf-8");
      expect(status.text).toStartWith("\nkubelet statusz\nWarning: This endpoint is not meant to be machine parseable");
      expect(status.text).toEndWith("\nPaths: /configz /debug /flagz /healthz /metrics\n");
      expect((await ask(endpoint, "/flagz", { headers: { accept: "text/plain" } })).text).toEndWith(
        "debugging purposes only.\nmax-pods 110\nv 0\n",
      );
    });
  });

  test("are documents for clients that name the kind, with a warning about an old version", async () => {
    await withEndpoint({ flags }, async (endpoint) => {
      const as = (kind: string, version: string) =>
        ask(endpoint, `/${kind.toLowerCase()}`, {
          headers: { accept: `application/json;as=${kind};v=${version};g=config.k8s.io` },
        });
      const flagz = await as("Flagz", "v1beta1");
      expect(JSON.parse(flagz.text)).toEqual({
        kind: "Flagz",
        apiVersion: "config.k8s.io/v1beta1",
        metadata: { name: "kubelet" },
        flags: { "max-pods": "110", v: "0" },
      });
      expect(flagz.headers.get("warning")).toBeNull();
      expect((await as("Statusz", "v1alpha1")).headers.get("warning")).toBe(
        '299 - "This version of the statusz endpoint is deprecated. Please use a newer version."',
      );
      const other = await ask(endpoint, "/statusz", { headers: { accept: "text/html" } });
      expect(other.code).toBe(406);
      expect(JSON.parse(other.text).message).toStartWith("only the following media types are accepted:");
    });
  });

  test("have no flags where there are none", async () => {
    await withEndpoint({}, async (endpoint) => {
      expect((await ask(endpoint, "/flagz")).code).toBe(404);
      expect((await ask(endpoint, "/statusz", { headers: { accept: "" } })).text).not.toContain("/flagz");
    });
  });
});

describe("run", () => {
  test("returns all that the command prints", async () => {
    await withEndpoint({}, async (endpoint) => {
      const answer = await ask(endpoint, "/run/default/web/main?cmd=ls%20-l%20%20x", { method: "POST" });
      expect(answer.text).toBe("ls|-l||x\nand a warning\n");
      expect(answer.headers.get("content-type")).toBe("application/json");
    });
  });
});

describe("checkpoint", () => {
  test("writes an archive that only its owner may read, in a directory of the same kind", async () => {
    const clock = new ManualClock();
    clock.advance(Date.parse("2026-11-23T12:00:00Z") - clock.nowMs());
    await withEndpoint({ clock }, async (endpoint) => {
      const { text } = await ask(endpoint, "/checkpoint/default/web/main?timeout=5", { method: "POST" });
      const [location] = JSON.parse(text).items;
      expect(location).toStartWith(join(home, "checkpoints", "checkpoint-web_default-main-2026-11-2"));
      expect(location).toEndWith(".tar");
      expect(statSync(location).mode & 0o777).toBe(0o600);
      expect(statSync(join(home, "checkpoints")).mode & 0o777).toBe(0o700);
    });
  });
});

describe("attack 83: host logs", () => {
  const logsDir = join(home, "logs");
  mkdirSync(join(logsDir, "pods"), { recursive: true });
  writeFileSync(join(logsDir, "syslog"), "a line\n");
  writeFileSync(join(home, "secret"), "a secret\n");
  mkdirSync(join(home, "logs-of-others"));
  writeFileSync(join(home, "logs-of-others", "x"), "a secret\n");
  symlinkSync("../secret", join(logsDir, "escape"));
  symlinkSync("..", join(logsDir, "up"));
  symlinkSync("../syslog", join(logsDir, "pods", "link"));
  Bun.spawnSync(["mkfifo", join(logsDir, "pipe")]);

  test("are listed and read", async () => {
    await withEndpoint({ logsDir }, async (endpoint) => {
      expect((await ask(endpoint, "/logs/")).text).toContain('<a href="pods/">pods/</a>\n<a href="syslog">');
      expect((await ask(endpoint, "/logs/pods")).headers.get("location")).toBe("pods/");
      expect((await ask(endpoint, "/logs/syslog")).text).toBe("a line\n");
      expect((await ask(endpoint, "/logs/pods/link")).text).toBe("a line\n");
    });
  });

  test.each([
    "escape",
    "up/secret",
    "up/logs-of-others/x",
    "..%2fsecret",
    "%2e%2e/secret",
    "..%5csecret",
    "%2fetc%2fpasswd",
    "pods/..%2f..%2fsecret",
    "syslog%00",
    "pipe",
    "missing",
    "syslog/x",
  ])("do not lead to %s", async (path) => {
    await withEndpoint({ logsDir }, async (endpoint) => {
      const { code, text } = await ask(endpoint, `/logs/${path}`);
      expect([400, 404]).toContain(code);
      expect(text).not.toContain("secret");
    });
  });
});

describe("bounds", () => {
  test("a long body is not read", async () => {
    await withEndpoint({}, async (endpoint) => {
      const body = "x".repeat(4 * 1024 * 1024);
      const sent = ask(endpoint, "/run/default/web/main?cmd=ls", { method: "POST", body }).catch(() => undefined);
      const answer = await sent;
      expect([undefined, 200]).toContain(answer?.code);
      expect((await ask(endpoint, "/healthz")).text).toBe("ok");
    });
  });

  test("a command that prints too much is stopped", async () => {
    const chatty = scriptedRuntime({
      async exec(_id, _command, { signal }, streams) {
        while (!signal.aborted) {
          await streams.stdout?.(Buffer.alloc(1024 * 1024));
          await Bun.sleep(0);
        }
        throw signal.reason;
      },
    });
    const own = new ScriptedDirectory();
    own.add(runningPod(chatty, "web"));
    await withEndpoint({ directory: own }, async (endpoint) => {
      const { code, text } = await ask(endpoint, "/run/default/web/main?cmd=yes", { method: "POST" });
      expect({ code, text }).toEqual({ code: 500, text: "the command prints too much" });
    });
  });
});
