import { afterAll, expect, test } from "bun:test";
import { createAuthority, issueCertificate } from "../../access/certificates/authority.ts";
import { systemClock } from "../../process/clock.ts";
import { WebhookClients, type WebhookClientsParts } from "./webhook-client.ts";

const hourMs = 3_600_000;
const good = { notBeforeMs: Date.now() - hourMs, notAfterMs: Date.now() + hourMs };
const authority = createAuthority({ commonName: "an authority", ...good });
const otherAuthority = createAuthority({ commonName: "another authority", ...good });
const serverName = "hook.ns.svc";
const servers: Bun.Server<undefined>[] = [];

afterAll(() => Promise.all(servers.map((server) => server.stop(true))));

function servingPair(validity: typeof good) {
  return issueCertificate(authority, {
    ...validity,
    commonName: "hook",
    organizations: [],
    usage: "server",
    dnsNames: [serverName],
    ipAddresses: ["127.0.0.1"],
  });
}

function serve(
  answer: (request: Request) => Response | Promise<Response>,
  pair = servingPair(good),
): Bun.Server<undefined> {
  const { certificate: cert, key } = pair;
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", tls: { cert, key }, fetch: answer });
  servers.push(server);
  return server;
}

function clients(parts: Partial<WebhookClientsParts> = {}): WebhookClients {
  return new WebhookClients({
    clock: systemClock,
    resolve: () => {
      throw new Error("no service is asked for here");
    },
    credentials: { proofFor: async () => ({}) },
    ...parts,
  });
}

const bundle = (ca = authority) => Buffer.from(ca.certificate).toString("base64");
const call = { body: '{"a":1}', timeoutMs: 5_000, answerBytesMax: 1_024 };
const urlOf = (server: Bun.Server<undefined>, path = "/x") => `https://127.0.0.1:${server.port}${path}`;
const post = (url: string, caBundle = bundle(), more = {}) =>
  clients()
    .of({ url, caBundle })
    .post({ ...call, ...more });

test("a webhook gets its timeout, our name and no credential; its answer is returned unchanged", async () => {
  const server = serve(async (request) => {
    const { pathname, search } = new URL(request.url);
    const names = ["user-agent", "accept", "content-type", "authorization"];
    return Response.json([pathname, search, ...names.map((name) => request.headers.get(name)), await request.text()]);
  });
  const { code, contentType, body } = await post(urlOf(server, "/a//b/"), bundle(), { timeoutMs: 4_001 });
  expect([code, contentType]).toEqual([200, "application/json;charset=utf-8"]);
  expect(JSON.parse(Buffer.from(body).toString())).toEqual([
    "/a/b",
    "?timeout=5s",
    "kube-apiserver-admission",
    "application/json, */*",
    "application/json",
    null,
    call.body,
  ]);
});

test("a service is called at the address that it has now, and by its name", async () => {
  const server = serve((request) => new Response(request.headers.get("host")));
  const asked: unknown[] = [];
  const all = clients({
    resolve: (...parts) => {
      asked.push(parts);
      return { host: "127.0.0.1", port: server.port ?? 0 };
    },
    credentials: { proofFor: async (authority) => ({ authorization: `Bearer for ${authority}` }) },
  });
  const client = all.of({ service: { namespace: "ns", name: "hook", path: "/p" }, caBundle: bundle() });
  const { body } = await client.post(call);
  expect(Buffer.from(body).toString()).toBe("hook.ns.svc:443");
  expect(asked).toEqual([["ns", "hook", 443]]);
});

test("connections are reused", async () => {
  const ports = new Set<number | undefined>();
  const server = serve((request): Response => {
    ports.add(server.requestIP(request)?.port);
    return new Response("x");
  });
  const client = clients().of({ url: urlOf(server), caBundle: bundle() });
  for (let count = 0; count < 10; count++) await client.post(call);
  expect(ports.size).toBe(1);
});

test("a bundle may hold the certificate of the webhook alone", async () => {
  const pair = servingPair(good);
  const server = serve(() => new Response("x"), pair);
  expect((await post(urlOf(server), Buffer.from(pair.certificate).toString("base64"))).code).toBe(200);
});

test("a redirect is not followed", async () => {
  let followed = false;
  const server = serve((request) => {
    followed ||= request.url.endsWith("/there");
    return new Response(null, { status: 307, headers: { location: "/there" } });
  });
  expect((await post(urlOf(server))).code).toBe(307);
  expect(followed).toBe(false);
});

test("a long answer is given up, declared or not", async () => {
  const chunk = new Uint8Array(64 * 1024);
  const declared = serve(() => new Response(new Uint8Array(1024 * 1024)));
  const endless = serve(
    () =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(chunk),
        }),
      ),
  );
  for (const server of [declared, endless]) {
    expect(post(urlOf(server))).rejects.toThrow("the answer is longer than 1024 bytes");
  }
});

test("a webhook that does not answer costs its time and no more", async () => {
  const server = serve(() => new Promise<Response>(() => undefined));
  const late = post(urlOf(server), bundle(), { timeoutMs: 50 });
  expect(late).rejects.toMatchObject({
    message: `Post "${urlOf(server)}?timeout=1s": context deadline exceeded`,
    reason: "timeout",
  });
  await late.catch(() => undefined);
  const gone = AbortSignal.abort();
  expect(post(urlOf(server), bundle(), { signal: gone })).rejects.toMatchObject({ reason: "canceled" });
});

test("calls beyond the limit wait for a place and keep their deadline", async () => {
  let running = 0;
  let most = 0;
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const server = serve(async () => {
    most = Math.max(most, ++running);
    await end;
    running--;
    return new Response("x");
  });
  const client = clients().of({ url: urlOf(server), caBundle: bundle() });
  const calls = Array.from({ length: 70 }, () => client.post({ ...call, timeoutMs: 20_000 }));
  const late = client.post({ ...call, timeoutMs: 20 });
  expect(late).rejects.toMatchObject({ reason: "timeout", waitedMs: 0 });
  await late.catch(() => undefined);
  resolve();
  expect((await Promise.all(calls)).map(({ code }) => code)).toEqual(calls.map(() => 200));
  expect(most).toBeLessThanOrEqual(64);
});

test("the search for a credential has the time of the call and takes no place", async () => {
  const server = serve(() => new Response("x"));
  let isSlow = true;
  const all = clients({
    credentials: { proofFor: () => (isSlow ? new Promise(() => undefined) : Promise.resolve({})) },
  });
  const client = all.of({ url: urlOf(server), caBundle: bundle() });
  const slow = Promise.allSettled(Array.from({ length: 64 }, () => client.post({ ...call, timeoutMs: 20 })));
  isSlow = false;
  expect((await client.post(call)).code).toBe(200);
  const [outcome] = await slow;
  expect(outcome).toMatchObject({ reason: { reason: "timeout", waitedMs: 0 } });
});

test("a connection error is described in Go's words", async () => {
  const server = serve(() => new Response("x"));
  const expired = serve(
    () => new Response("x"),
    servingPair({
      notBeforeMs: Date.now() - 2 * hourMs,
      notAfterMs: Date.now() - hourMs,
    }),
  );
  const verification = "tls: failed to verify certificate: x509: certificate";
  expect(post(urlOf(server), bundle(otherAuthority))).rejects.toThrow(`${verification} signed by unknown authority`);
  expect(post(urlOf(server), "")).rejects.toThrow(`${verification} signed by unknown authority`);
  expect(post(urlOf(expired))).rejects.toThrow(`${verification} has expired or is not yet valid`);
  expect(post("https://127.0.0.1:1/refused", bundle(), { timeoutMs: 5_000 })).rejects.toThrow(
    'Post "https://127.0.0.1:1/refused?timeout=5s": dial tcp 127.0.0.1:1: connect: connection refused',
  );
  const wrongName = clients({ resolve: () => ({ host: "127.0.0.1", port: server.port ?? 0 }) });
  const service = { namespace: "ns", name: "other" };
  expect(wrongName.of({ service, caBundle: bundle() }).post(call)).rejects.toThrow(`${verification} is not valid for`);
  const missing = clients({
    resolve: () => {
      throw new Error('service "other" not found');
    },
  });
  expect(missing.of({ service, caBundle: bundle() }).post(call)).rejects.toThrow(
    'Post "https://other.ns.svc:443/?timeout=5s": service "other" not found',
  );
});

test.each([
  ["", "unable to parse bytes as PEM block", "x"],
  ["", "no valid certificate authority data seen", "-----BEGIN PRIVATE KEY-----"],
])("a bundle without certificates is refused%s: %s", (_, text, pem) => {
  const caBundle = Buffer.from(pem).toString("base64");
  expect(() => clients().of({ url: "https://h", caBundle })).toThrow(`unable to load root certificates: ${text}`);
});

test.each(["169.254.0.1:1", "[fe80::1]:1"])("the link-local address %s is called like any other", async (address) => {
  const url = `https://${address}/x`;
  const failure = await post(url, bundle(), { timeoutMs: 200 }).catch((error: Error) => error.message);
  // Networks differ: one has no route there, another does not answer in time.
  expect(failure).toStartWith(`Post "${url}?timeout=1s": `);
});
