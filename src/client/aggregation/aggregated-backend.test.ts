import { afterAll, expect, test } from "bun:test";
import type { RequestListener } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { createServer as createTlsServer, type Server as TlsServer } from "node:tls";
import { createAuthority, issueCertificate } from "../../access/certificates/authority.ts";
import { AggregatedBackends, type AggregatedBackendsParts } from "./aggregated-backend.ts";
import type { RemoteApi } from "./remote-api.ts";

const hourMs = 3_600_000;
const validity = { notBeforeMs: Date.now() - hourMs, notAfterMs: Date.now() + hourMs };
const authority = createAuthority({ commonName: "an authority", ...validity });
const frontProxy = createAuthority({ commonName: "front proxy", ...validity });
const names = { organizations: [], dnsNames: [], ipAddresses: [], ...validity };
const proxyClient = issueCertificate(frontProxy, { ...names, commonName: "front-proxy-client", usage: "client" });
const user = { name: "jane", uid: "", groups: ["g1", "g2"], extra: new Map<string, string[]>() };
const closing: (() => unknown)[] = [];

afterAll(() => Promise.all(closing.map((close) => close())));

async function serve(listener: RequestListener, dnsName = "s.n.svc"): Promise<Server> {
  const pair = issueCertificate(authority, { ...names, commonName: "s", usage: "server", dnsNames: [dnsName] });
  const { certificate: cert, key } = pair;
  const tls = { cert, key, ca: frontProxy.certificate, requestCert: true, rejectUnauthorized: false };
  const server = createServer(tls, listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  return server;
}

function backends(server: Server | TlsServer, parts: Partial<AggregatedBackendsParts> = {}): AggregatedBackends {
  const { port } = server.address() as AddressInfo;
  const made = new AggregatedBackends({
    resolve: () => ({ host: "127.0.0.1", port }),
    proxyClient: () => proxyClient,
    ...parts,
  });
  closing.push(() => made[Symbol.dispose]());
  return made;
}

const remote: RemoteApi = { namespace: "n", name: "s", port: 443, authorities: authority.certificate, insecure: false };
const asking = (target: string) => ({ target, headers: [], user, signal: new AbortController().signal }) as const;
const text = (document: { readonly body: Uint8Array }) => Buffer.from(document.body).toString();

test("a backend sees the user, and its address as the host", async () => {
  const server = await serve((request, response) => {
    const groups = request.rawHeaders.filter((_, at) => request.rawHeaders[at - 1]?.toLowerCase() === "x-remote-group");
    response.end(JSON.stringify([request.headers["x-remote-user"], groups, request.headers.host, request.url]));
  });
  const headers = [
    ["x-remote-user", "admin"],
    ["host", "elsewhere"],
  ] as const;
  const document = await backends(server).get(remote, { ...asking("/apis/g/v1?a=b"), headers }, 1_000);
  const { port } = server.address() as AddressInfo;
  expect(JSON.parse(text(document))).toEqual(["jane", ["g1", "g2"], `127.0.0.1:${port}`, "/apis/g/v1?a=b"]);
});

test("a header may have the name of a property that objects inherit", async () => {
  const server = await serve((request, response) => {
    const at = request.rawHeaders.findIndex((name) => name.toLowerCase() === "constructor");
    response.end(request.rawHeaders[at + 1]);
  });
  const headers = [["constructor", "x"]] as const;
  expect(text(await backends(server).get(remote, { ...asking("/"), headers }, 1_000))).toBe("x");
});

test("a backend sees our certificate, and that of now on its next connection", async () => {
  const pair = issueCertificate(authority, { ...names, commonName: "s", usage: "server", dnsNames: ["s.n.svc"] });
  const { certificate: cert, key } = pair;
  const tls = { cert, key, ca: frontProxy.certificate, requestCert: true, rejectUnauthorized: false };
  const server = createTlsServer(tls, (socket) => {
    const { CN: name = "" } = socket.getPeerCertificate().subject;
    socket.on("data", () => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${name.length}\r\n\r\n${name}`));
    socket.on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close());
  let current = proxyClient;
  const made = backends(server, { proxyClient: () => current });
  expect(text(await made.get(remote, asking("/"), 100))).toBe("front-proxy-client");
  current = issueCertificate(frontProxy, { ...names, commonName: "renewed", usage: "client" });
  expect(text(await made.get(remote, asking("/"), 100))).toBe("renewed");
});

test("a connection is used again, and replaced when the backend has closed it", async () => {
  const ports = new Set<number | undefined>();
  const server = await serve((request, response) => {
    ports.add(request.socket.remotePort);
    response.end();
  });
  const made = backends(server);
  for (let count = 0; count < 3; count++) await made.get(remote, asking("/"), 10);
  expect(ports.size).toBe(1);
  server.closeIdleConnections();
  await made.get(remote, asking("/"), 10);
  expect(ports.size).toBe(2);
});

test.each<[what: string, change: Partial<RemoteApi>, why: string]>([
  [
    "an unknown authority",
    { authorities: frontProxy.certificate },
    "tls: failed to verify certificate: x509: certificate signed by unknown authority",
  ],
  [
    "the name of another service",
    { name: "other" },
    "tls: failed to verify certificate: x509: certificate is not valid for the name of the server",
  ],
  [
    "a bundle without PEM",
    { authorities: "x" },
    "unable to load root certificates: unable to parse bytes as PEM block",
  ],
])("a backend with %s gets no request", async (_what, change, why) => {
  let asked = 0;
  const server = await serve((_request, response) => {
    asked++;
    response.end();
  });
  await expect(backends(server).get({ ...remote, ...change }, asking("/"), 10)).rejects.toThrow(why);
  expect(asked).toBe(0);
});

test("insecureSkipTLSVerify accepts any certificate", async () => {
  const server = await serve((_request, response) => response.end("yes"), "another.name");
  const insecure = { ...remote, authorities: undefined, insecure: true };
  expect(text(await backends(server).get(insecure, asking("/"), 10))).toBe("yes");
});

test.each(["DELETE", "POST", "GET"])("the body of a %s without a length is framed", async (method) => {
  const seen: string[] = [];
  const server = await serve(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    seen.push(`${request.method} ${request.url} ${Buffer.concat(chunks)}`);
    response.end();
  });
  const made = backends(server);
  const body = Readable.from([Buffer.from("GET /secret HTTP/1.1\r\nhost: a\r\n\r\n")]);
  const answer = await made.send(remote, { ...asking("/a"), method, body });
  for await (const _ of answer.body);
  await made.get(remote, asking("/b"), 10);
  expect(seen).toEqual([`${method} /a GET /secret HTTP/1.1\r\nhost: a\r\n\r\n`, "GET /b "]);
});

test("a body goes both ways at the pace of its reader", async () => {
  const server = await serve(async (request, response) => {
    for await (const chunk of request) {
      if (!response.write(chunk)) await new Promise((resolve) => response.once("drain", resolve));
    }
    response.end();
  });
  const piece = new Uint8Array(64 * 1024);
  const pieces = 400;
  let sent = 0;
  async function* body() {
    for (; sent < pieces; sent++) yield piece;
  }
  const answer = await backends(server).send(remote, {
    ...asking("/"),
    method: "POST",
    body: Readable.from(body(), { objectMode: true, highWaterMark: 1 }),
  });
  let still = -1;
  // Nobody reads the answer, so the request comes to a stop.
  while (still !== sent) {
    still = sent;
    await Bun.sleep(100);
  }
  expect(sent).toBeLessThan(pieces);
  let received = 0;
  for await (const chunk of answer.body as AsyncIterable<Buffer>) received += chunk.byteLength;
  expect([sent, received]).toEqual([pieces, pieces * piece.byteLength]);
});

test("an answer that is too long is given up", async () => {
  const server = await serve((_request, response) => response.end("x".repeat(11)));
  await expect(backends(server).get(remote, asking("/"), 10)).rejects.toThrow("the answer is longer than 10 bytes");
});

test("a request ends with its signal, also while the answer is read", async () => {
  const server = await serve((_request, response) => void response.write("a"));
  const controller = new AbortController();
  const getting = backends(server).get(remote, { ...asking("/"), signal: controller.signal }, 10);
  await Bun.sleep(50);
  controller.abort(new Error("enough"));
  await expect(getting).rejects.toThrow("enough");
});

test("a backend that is not there is named as Go names it", async () => {
  const server = await serve((_request, response) => response.end());
  const { port } = server.address() as AddressInfo;
  const made = backends(server);
  await new Promise((resolve) => server.close(resolve));
  await expect(made.get(remote, asking("/"), 10)).rejects.toMatchObject({
    reason: "unreachable",
    message: `dial tcp 127.0.0.1:${port}: connect: connection refused`,
  });
});

test("a service without an address is unresolved", async () => {
  const server = await serve((_request, response) => response.end());
  const resolve = () => {
    throw new Error('service "s" not found');
  };
  await expect(backends(server, { resolve }).get(remote, asking("/"), 10)).rejects.toMatchObject({
    reason: "unresolved",
    message: 'service "s" not found',
  });
});
