import { describe, expect, test } from "bun:test";
import { StatusError } from "../../api/status.ts";
import { type Clock, systemClock } from "../../process/clock.ts";
import type { HeaderList, IncomingRequest, PeerCertificate } from "../../request/exchange.ts";
import { anonymousAuthenticator } from "./anonymous.ts";
import { unionAuthenticator } from "./authenticator.ts";
import { bearerTokenAuthenticator, webSocketTokenPrefix } from "./bearer-token.ts";
import { clientCertificateAuthenticator, credentialIdExtra } from "./client-certificate.ts";
import { tokensForServer } from "./token-authenticator.ts";
import { parseTokenFile, TokenFileError } from "./token-file.ts";

const clock: Clock = { ...systemClock, nowMs: () => 1_000 };

function request(fields: { headers?: HeaderList; peer?: PeerCertificate; rawPath?: string }): IncomingRequest {
  return {
    method: "GET",
    rawPath: fields.rawPath ?? "/api",
    headers: fields.headers ?? [],
    peer: fields.peer ?? { kind: "none" },
    remoteAddress: "127.0.0.1",
    httpVersion: "2",
    body: async () => new Uint8Array(),
    signal: new AbortController().signal,
    isAborted: false,
  };
}

function verified(fields: Partial<PeerCertificate & { kind: "verified" }> = {}): PeerCertificate {
  return {
    kind: "verified",
    commonName: "alice",
    organizations: ["dev"],
    validFromMs: 0,
    validToMs: 2_000,
    fingerprint256: "AB:CD",
    issuer: "ca",
    ...fields,
  };
}

const bearer = (token: string): HeaderList => [["authorization", `Bearer ${token}`]];
const tokens = tokensForServer([], parseTokenFile('secret,bob,u1,"ops, dev"\n'));
const union = unionAuthenticator(
  [clientCertificateAuthenticator(clock), bearerTokenAuthenticator(tokens)],
  anonymousAuthenticator(),
);

async function outcome(fields: Parameters<typeof request>[0], authenticator = union): Promise<string> {
  try {
    return (await authenticator.authenticate(request(fields))).name;
  } catch (error) {
    if (error instanceof StatusError) return String(error.code);
    throw error;
  }
}

describe("the union of authenticators", () => {
  test.each<[string, Parameters<typeof request>[0], string]>([
    ["no credential is anonymous", {}, "system:anonymous"],
    ["another scheme is ignored", { headers: [["authorization", "Basic eDp5"]] }, "system:anonymous"],
    ["a token in the query is ignored", { rawPath: "/api?token=secret" }, "system:anonymous"],
    ["a good certificate names the user", { peer: verified() }, "alice"],
    ["a good token names the user", { headers: bearer("secret") }, "bob"],
    ["the scheme has no case", { headers: [["authorization", "BEARER secret"]] }, "bob"],
    ["the certificate comes first", { peer: verified(), headers: bearer("secret") }, "alice"],
    ["a bad token is a 401 even with a good certificate", { peer: verified(), headers: bearer("wrong") }, "401"],
    ["a bad certificate alone is a 401", { peer: { kind: "rejected", reason: "x" } }, "401"],
    [
      "a good token helps a bad certificate",
      { peer: { kind: "rejected", reason: "x" }, headers: bearer("secret") },
      "bob",
    ],
    ["an expired certificate is a 401", { peer: verified({ validToMs: 999 }) }, "401"],
    ["a certificate from the future is a 401", { peer: verified({ validFromMs: 1_001 }) }, "401"],
    ["a certificate without a name is a 401", { peer: verified({ commonName: "" }) }, "401"],
    ["a certificate for anonymous is a 401", { peer: verified({ commonName: "system:anonymous" }) }, "401"],
    [
      "a certificate in system:unauthenticated is a 401",
      { peer: verified({ organizations: ["system:unauthenticated"] }) },
      "401",
    ],
    ["two headers are a 401", { headers: [...bearer("secret"), ...bearer("secret")] }, "401"],
    ["two spaces are a 401", { headers: bearer(" secret") }, "401"],
    ["an empty token is no credential", { headers: bearer("") }, "system:anonymous"],
    ["a bare scheme is no credential", { headers: [["authorization", "Bearer"]] }, "system:anonymous"],
    ["a longer scheme is another one", { headers: [["authorization", "Bearerx secret"]] }, "system:anonymous"],
    ["a tab is a 401", { headers: [["authorization", "Bearer\tsecret"]] }, "401"],
    ["joined tokens are a 401", { headers: bearer("secret, Bearer secret") }, "401"],
    ["a NUL is a 401", { headers: bearer("secret\0") }, "401"],
    ["non-ASCII is a 401", { headers: bearer("sécret") }, "401"],
    ["a megabyte is a 401", { headers: bearer("x".repeat(1 << 20)) }, "401"],
  ])("%s", async (_name, fields, expected) => {
    expect(await outcome(fields)).toBe(expected);
  });

  test("adds system:authenticated once, and the certificate's fingerprint", async () => {
    const user = await union.authenticate(request({ peer: verified() }));
    expect(user.groups).toEqual(["dev", "system:authenticated"]);
    expect(user.extra.get(credentialIdExtra)).toEqual(["X509SHA256=abcd"]);
    expect((await union.authenticate(request({}))).groups).toEqual(["system:unauthenticated"]);
  });

  test("without an anonymous fallback, or outside its paths, a request without credentials is a 401", async () => {
    expect(await outcome({}, unionAuthenticator([]))).toBe("401");
    const healthOnly = unionAuthenticator([], anonymousAuthenticator(["/livez"]));
    expect(await outcome({ rawPath: "/livez?verbose" }, healthOnly)).toBe("system:anonymous");
    expect(await outcome({ rawPath: "/livez/x" }, healthOnly)).toBe("401");
  });

  test("an error inside an authenticator is thrown unchanged", async () => {
    const broken = unionAuthenticator([{ authenticate: () => Promise.reject(new Error("down")) }]);
    expect(broken.authenticate(request({}))).rejects.toThrow("down");
  });
});

describe("a token among the subprotocols of a WebSocket", () => {
  const upgrade = (...protocols: string[]): HeaderList => [
    ["upgrade", "websocket"],
    ...protocols.map((protocol) => ["sec-websocket-protocol", protocol] as const),
  ];
  const encoded = `${webSocketTokenPrefix}${Buffer.from("secret").toString("base64url")}`;

  test.each<[string, HeaderList, string]>([
    ["names the user", upgrade(`${encoded}, v5.channel.k8s.io`), "bob"],
    ["counts on an upgrade only", [["sec-websocket-protocol", encoded]], "system:anonymous"],
    ["may not be there twice", upgrade(encoded, encoded), "401"],
    ["has to be base64url", upgrade(`${webSocketTokenPrefix}se+cret=`), "401"],
    ["has to be a token", upgrade(webSocketTokenPrefix), "401"],
    ["gives way to the header", [...bearer("wrong"), ...upgrade(encoded)], "401"],
  ])("%s", async (_name, headers, expected) => {
    expect(await outcome({ headers })).toBe(expected);
  });
});

describe("the token file", () => {
  test("groups are split, quotes unescaped, comments and empty lines skipped", () => {
    const file = parseTokenFile('# c\r\n\n t1 , "a ""b""" ,1\r\nt2,c,2,"g1,g2",ignored\nt3,d,3,g');
    expect(file("t1")).toEqual({ name: 'a "b"', uid: "1", groups: [], extra: new Map() });
    expect(file("t2")?.groups).toEqual(["g1", "g2"]);
    expect(file("t3")?.groups).toEqual(["g"]);
    expect(file("t4")).toBeUndefined();
  });

  test.each([
    ["a,b", "tokens:1: a line must have a token, a user name and a user id"],
    ["a,b,c\n\na,d,e", "tokens:3: the token occurs twice"],
    [",b,c", "tokens:1: the token is empty or contains an invalid character"],
    ["a b,b,c", "tokens:1: the token is empty or contains an invalid character"],
    ["a,,c", "tokens:1: the user name is empty"],
    ['a,b,c,"d', "tokens:1: a quoted field has no closing quote"],
    ['a,b,"c"d', "tokens:1: a quoted field has no closing quote"],
  ])("%p is rejected with one line that does not show the token", (text, message) => {
    expect(() => parseTokenFile(text, "tokens")).toThrow(new TokenFileError(message));
  });
});
