import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createServer, type Server as NetServer } from "node:net";
import { Server, ServerCredentials, status } from "@grpc/grpc-js";
import type { Probe } from "../../../api/types/core-v1.ts";
import { ManualClock } from "../../../storage/cacher/testing.ts";
import { FakeRuntime } from "../../runtime/testing.ts";
import { container, viewOf } from "../testing.ts";
import type { ProbeOutcome } from "./probe-outcome.ts";
import { runProbe } from "./run-probe.ts";

const address = "127.0.0.1";
const run = viewOf({ runs: [["web", "running"]] }).containers[0] as never;
const stops: (() => void)[] = [];
let web: ReturnType<typeof Bun.serve>;
let health: Server;
let healthPort = 0;
let closed = 0;

beforeAll(async () => {
  web = Bun.serve({
    port: 0,
    hostname: address,
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === "/away") return Response.redirect("http://elsewhere.invalid/", 302);
      if (pathname === "/here") return Response.redirect("/ok?x=1", 302);
      if (pathname === "/again") return Response.redirect("/again", 302);
      if (pathname === "/slow") return new Promise<Response>(() => undefined);
      if (pathname === "/agent")
        return new Response("", { status: request.headers.get("user-agent") === "kube-probe/1.36" ? 200 : 500 });
      if (pathname === "/header") return new Response("", { status: request.headers.get("x-one") === "1" ? 200 : 500 });
      return new Response("secret", { status: pathname === "/ok" && searchParams.get("x") === "1" ? 200 : 503 });
    },
  });
  health = new Server();
  health.addService(
    {
      check: {
        path: "/grpc.health.v1.Health/Check",
        requestStream: false,
        responseStream: false,
        requestSerialize: (value: Buffer) => value,
        requestDeserialize: (value: Buffer) => value,
        responseSerialize: (value: Buffer) => value,
        responseDeserialize: (value: Buffer) => value,
      },
    },
    {
      check: (call: { request: Buffer }, answer: (error: object | null, value?: Buffer) => void) => {
        const service = call.request.subarray(2).toString();
        if (service === "other") answer({ code: status.UNIMPLEMENTED, details: "unknown method" });
        else answer(null, Buffer.from([0x08, service === "down" ? 2 : 1]));
      },
    } as never,
  );
  healthPort = await new Promise<number>((resolve, reject) =>
    health.bindAsync(`${address}:0`, ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    ),
  );
  const free: NetServer = createServer().listen(0, address);
  await new Promise((resolve) => free.once("listening", resolve));
  closed = (free.address() as { port: number }).port;
  await new Promise((resolve) => free.close(resolve));
});

afterAll(() => {
  web.stop(true);
  health.forceShutdown();
  for (const stop of stops) stop();
});

const runtime = new FakeRuntime(new ManualClock());
const probing = (probe: Probe): Promise<ProbeOutcome> =>
  runProbe(runtime, {
    probe: { timeoutSeconds: 1, ...probe },
    kind: "readiness",
    container: container("web", { ports: [{ name: "http", containerPort: web.port ?? 0 }] }),
    run,
    address,
  });
const get = (path: string, more: object = {}) => probing({ httpGet: { path, port: web.port ?? 0, ...more } });

describe("an http probe", () => {
  test("succeeds with an answer below 400, by the name of a port too", async () => {
    expect(await get("/ok?x=1")).toEqual({ result: "success", output: "" });
    expect((await get("/ok?x=1", { port: "http" })).result).toBe("success");
    expect((await get("/agent")).result).toBe("success");
    expect((await get("/header", { httpHeaders: [{ name: "X-One", value: "1" }] })).result).toBe("success");
  });

  test("fails without the body of the answer", async () => {
    expect(await get("/down")).toEqual({ result: "failure", output: "HTTP probe failed with statuscode: 503" });
  });

  test("follows redirects to the same host only", async () => {
    expect((await get("/here")).result).toBe("success");
    expect((await get("/away")).result).toBe("warning");
    expect((await get("/again")).output).toEndWith("stopped after 10 redirects");
  });

  test("fails when nothing answers", async () => {
    const timeout = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
    expect((await get("/slow")).output).toBe(`Get "http://127.0.0.1:${web.port}/slow": ${timeout}`);
    expect((await get("/x", { port: closed })).output).toBe(
      `Get "http://127.0.0.1:${closed}/x": dial tcp 127.0.0.1:${closed}: connect: connection refused`,
    );
  });

  test("cannot be carried out for an unknown port", async () => {
    expect(get("/x", { port: "nothing" })).rejects.toThrow('couldn\'t find port: "nothing"');
  });
});

test("a tcp probe connects", async () => {
  expect((await probing({ tcpSocket: { port: web.port ?? 0 } })).result).toBe("success");
  expect(await probing({ tcpSocket: { port: closed } })).toEqual({
    result: "failure",
    output: `dial tcp 127.0.0.1:${closed}: connect: connection refused`,
  });
});

test("a grpc probe asks for the health of a service", async () => {
  const check = (service: string, port = healthPort) => probing({ grpc: { port, service } });
  expect(await check("")).toEqual({ result: "success", output: "service healthy" });
  expect((await check("up")).result).toBe("success");
  expect((await check("down")).output).toBe('service unhealthy (responded with "NOT_SERVING")');
  expect((await check("other")).output).toStartWith("error: this server does not implement the grpc health protocol");
  expect((await check("", closed)).output).toStartWith(
    `timeout: failed to connect service "127.0.0.1:${closed}" within 1s`,
  );
});

describe("an exec probe", () => {
  const clock = new ManualClock();
  const own = new FakeRuntime(clock);
  test("runs a command in the container", async () => {
    const { sandbox, id } = await started(own);
    own.scripts.set("web", { exec: ([word]) => (word === "hang" ? new Promise(() => undefined) : Number(word)) });
    const exec = (command: string[]) =>
      runProbe(own, {
        probe: { exec: { command }, timeoutSeconds: 1 },
        kind: "liveness",
        container: container("web"),
        run: { id, sandboxId: sandbox, name: "web", attempt: 0, image: "", imageRef: "", state: { kind: "created" } },
        address: undefined,
      });
    expect(await exec(["0"])).toEqual({ result: "success", output: "output of 0" });
    expect(await exec(["3"])).toEqual({ result: "failure", output: "output of 3" });
    const hanging = exec(["hang"]);
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1_000);
    expect(await hanging).toEqual({ result: "failure", output: 'command timed out: "hang" timed out after 1s' });
  });
});

test("a runtime may answer itself", async () => {
  const answering = Object.assign(new FakeRuntime(new ManualClock()), { probe: () => false });
  const request = { probe: {}, kind: "readiness", container: container("web"), run, address: undefined } as const;
  expect(await runProbe(answering, request)).toEqual({ result: "failure", output: "" });
});

async function started(runtime: FakeRuntime) {
  const { pod } = viewOf({});
  const sandbox = await runtime.runSandbox(pod, 0);
  const config = {
    spec: container("web"),
    attempt: 0,
    imageRef: "",
    command: [],
    args: [],
    environment: [],
    mounts: [],
    logPath: "",
  };
  const id = await runtime.createContainer(sandbox, pod, config);
  await runtime.startContainer(id);
  return { sandbox: sandbox.id, id };
}
