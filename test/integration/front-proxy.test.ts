import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, issueCertificate, type KeyPair } from "../../src/access/certificates/authority.ts";
import { until } from "../until.ts";
import { TestServer } from "./server.ts";

const directory = mkdtempSync(join(tmpdir(), "quorate-"));
const validity = { notBeforeMs: Date.now() - 3_600_000, notAfterMs: Date.now() + 3_600_000 };
const proxies = createAuthority({ commonName: "proxies", ...validity });
const clients = createAuthority({ commonName: "clients", ...validity });
const [proxiesFile, clientsFile] = [join(directory, "proxies.crt"), join(directory, "clients.crt")];
const leaf = (authority: KeyPair, commonName: string, ...organizations: string[]) =>
  issueCertificate(authority, {
    ...validity,
    commonName,
    organizations,
    usage: "client",
    dnsNames: [],
    ipAddresses: [],
  });

const options = {
  clientCaFile: clientsFile,
  requestheaderClientCaFile: proxiesFile,
  requestheaderAllowedNames: ["front"],
  requestheaderUsernameHeaders: ["X-Remote-User", "X-Other-User"],
  requestheaderUidHeaders: ["X-Remote-Uid"],
  requestheaderGroupHeaders: ["X-Remote-Group"],
  requestheaderExtraHeadersPrefix: ["X-Remote-Extra-"],
};
let server: TestServer;

beforeAll(async () => {
  writeFileSync(proxiesFile, proxies.certificate);
  writeFileSync(clientsFile, clients.certificate);
  server = await TestServer.start({ ...options, anonymousAuth: false });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

type Headers = Record<string, string | string[]>;

/** Returns the user that the server identifies, or the status code of an error. */
async function whoAmI(pair: KeyPair | undefined, headers: Headers): Promise<any> {
  const credentials = pair === undefined ? {} : { cert: pair.certificate, key: pair.key };
  const session = connect(server.running.url, { ca: server.running.ca, ...credentials });
  const stream = session.request({
    ":method": "POST",
    ":path": "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    "content-type": "application/json",
    ...headers,
  });
  const { promise, resolve } = Promise.withResolvers<number>();
  stream.on("response", (fields) => resolve(Number(fields[":status"])));
  stream.end(JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" }));
  let text = "";
  for await (const chunk of stream) text += chunk;
  session.close();
  const code = await promise;
  return code === 201 ? JSON.parse(text).status.userInfo : code;
}

const front = leaf(proxies, "front");
const jane = { "x-remote-user": "jane" };

test("a proxy names the user of a request: name, uid, groups and extra, whose keys are decoded", async () => {
  const headers = {
    ...jane,
    "x-remote-uid": "7",
    "x-remote-group": ["dev", "ops"],
    "x-remote-extra-example.com%2fscope": ["read", "write"],
  };
  expect(await whoAmI(front, headers)).toEqual({
    username: "jane",
    uid: "7",
    groups: ["dev", "ops", "system:authenticated"],
    extra: { "example.com/scope": ["read", "write"] },
  });
});

test("the first header of the list that is not empty names the user", async () => {
  const { username } = await whoAmI(front, { "x-other-user": "second", "x-remote-user": "" });
  expect(username).toBe("second");
});

describe("the headers alone are not trusted", () => {
  test.each<[string, KeyPair | undefined, Headers, unknown]>([
    ["without a certificate", undefined, jane, 401],
    ["with a certificate of a client", leaf(clients, "front"), jane, "front"],
    ["with a name that is not allowed", leaf(proxies, "other"), jane, 401],
    ["with an authority of somebody else", leaf(createAuthority({ commonName: "x", ...validity }), "front"), jane, 401],
    ["without a user", front, { "x-remote-group": "system:masters" }, 401],
  ])("%s", async (_name, pair, headers, expected) => {
    const answer = await whoAmI(pair, headers);
    expect(typeof answer === "object" ? answer.username : answer).toBe(expected);
  });

  test("and a proxy's certificate alone is not a user, whatever its groups", async () => {
    expect(await whoAmI(leaf(proxies, "front", "system:masters"), {})).toBe(401);
  });
});

test("the trusted authorities are published for servers that extend this one", async () => {
  const path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
  const answer = await until(
    () => server.get(path),
    ({ code }) => code === 200,
  );
  expect(answer.json.data).toEqual({
    "client-ca-file": expect.stringContaining(clients.certificate),
    "requestheader-client-ca-file": proxies.certificate,
    "requestheader-allowed-names": '["front"]',
    "requestheader-username-headers": '["x-remote-user","x-other-user"]',
    "requestheader-uid-headers": '["x-remote-uid"]',
    "requestheader-group-headers": '["x-remote-group"]',
    "requestheader-extra-headers-prefix": '["x-remote-extra-"]',
  });
});

test("an authority of clients cannot be one of proxies", async () => {
  const copy = join(directory, "copy.crt");
  writeFileSync(copy, `# a comment\n${clients.certificate}`);
  await expect(TestServer.start({ ...options, requestheaderClientCaFile: copy })).rejects.toThrow(
    /contains an authority of clients/,
  );
  await expect(TestServer.start({ ...options, requestheaderClientCaFile: clientsFile })).rejects.toThrow(
    /name the same file/,
  );
});
