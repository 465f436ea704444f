import "reflect-metadata";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHmac, X509Certificate } from "node:crypto";
import { connect } from "node:http2";
import * as x509 from "@peculiar/x509";
import { until } from "../until.ts";
import { type Answer, TestServer } from "./server.ts";

const signingRequests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const core = "/api/v1/namespaces/default";
const kubeSystem = "/api/v1/namespaces/kube-system";
let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ controllers: "*,tokencleaner,bootstrapsigner", enableBootstrapTokenAuth: true });
});
afterAll(() => server[Symbol.asyncDispose]());

/** Returns the first answer for which a condition holds. */
async function answerOnce(path: string, holds: (answer: Answer) => boolean): Promise<any> {
  return (await until(() => server.get(path), holds)).json;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

async function certificateRequest(subject: string, dnsNames: string[] = []) {
  const keys = (await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as CryptoKeyPair;
  const extensions =
    dnsNames.length === 0
      ? []
      : [new x509.SubjectAlternativeNameExtension(dnsNames.map((value) => ({ type: "dns", value })))];
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: subject,
    keys,
    signingAlgorithm: algorithm,
    extensions,
  });
  const key = x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY");
  return { request: Buffer.from(request.toString("pem")).toString("base64"), key };
}

async function ask(name: string, signer: string, request: string, usages: string[], token?: string) {
  const spec = { request, signerName: `kubernetes.io/${signer}`, usages, expirationSeconds: 3600 };
  return server.post(signingRequests, { metadata: { name }, spec }, token === undefined ? {} : { token });
}

async function approve(name: string): Promise<void> {
  const { json } = await server.get(`${signingRequests}/${name}`);
  json.status = { conditions: [{ type: "Approved", status: "True", reason: "Test", message: "" }] };
  const answer = await server.request("PUT", `${signingRequests}/${name}/approval`, { body: json });
  expect(answer.code).toBe(200);
}

const certificateOf = (json: any) => Buffer.from(json.status.certificate, "base64").toString("latin1");
const isSigned = ({ json }: { json: any }) => json.status?.certificate !== undefined;
const clientUsages = ["digital signature", "key encipherment", "client auth"];

/** Returns the user that the server identifies on a connection with the certificate. */
async function userOf(cert: string, key: string): Promise<string> {
  const session = connect(server.running.url, { ca: server.running.ca, cert, key });
  const stream = session.request({
    ":method": "POST",
    ":path": "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    "content-type": "application/json",
  });
  stream.end(JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" }));
  let text = "";
  for await (const chunk of stream) text += chunk;
  session.close();
  return JSON.parse(text).status.userInfo.username;
}

describe("a certificate that is asked for", () => {
  test("is signed once approved, as it was asked for, and logs its holder in", async () => {
    const { request, key } = await certificateRequest("CN=jane, O=developers");
    expect((await ask("jane", "kube-apiserver-client", request, clientUsages)).code).toBe(201);
    await Bun.sleep(50);
    expect((await server.get(`${signingRequests}/jane`)).json.status).toEqual({});
    await approve("jane");
    const certificate = certificateOf(await answerOnce(`${signingRequests}/jane`, isSigned));

    const read = new X509Certificate(certificate);
    expect([read.subject, read.ca]).toEqual(["CN=jane\nO=developers", false]);
    expect(read.verify(new X509Certificate(server.running.ca).publicKey)).toBe(true);
    const lifetimeMs = Date.parse(read.validTo) - Date.parse(read.validFrom);
    // It begins five minutes ago and lasts for the requested time.
    expect(lifetimeMs).toBe(3_600_000 + 300_000);
    const judged = new x509.X509Certificate(certificate);
    expect(judged.getExtension(x509.ExtendedKeyUsageExtension)?.usages).toEqual([x509.ExtendedKeyUsage.clientAuth]);
    expect(await userOf(certificate, key)).toBe("jane");
  });

  test("keeps its alternative names when it is one of a kubelet's server", async () => {
    const { request } = await certificateRequest("CN=system:node:n1, O=system:nodes", ["n1.example", "n1"]);
    await ask("serving", "kubelet-serving", request, ["digital signature", "server auth"]);
    await approve("serving");
    const certificate = certificateOf(await answerOnce(`${signingRequests}/serving`, isSigned));
    expect(new X509Certificate(certificate).subjectAltName).toBe("DNS:n1.example, DNS:n1");
  });

  test.each<[string, string, string, string[], string]>([
    ["usage", "kube-apiserver-client", "CN=x", ["server auth"], "invalid usage for client certificate: server auth"],
    [
      "subject",
      "kubelet-serving",
      "CN=x, O=system:nodes",
      ["digital signature", "server auth"],
      "DNS or IP subjectAltName is required",
    ],
    ["node", "kube-apiserver-client-kubelet", "CN=x, O=system:nodes", clientUsages, "does not begin with system:node:"],
  ])("fails when its %s does not fit the signer", async (name, signer, subject, usages, message) => {
    const { request } = await certificateRequest(subject);
    await ask(`wrong-${name}`, signer, request, usages);
    await approve(`wrong-${name}`);
    const failed = ({ json }: { json: any }) => json.status.conditions?.length === 2;
    const { status } = await answerOnce(`${signingRequests}/wrong-${name}`, failed);
    expect(status.conditions[1]).toMatchObject({ type: "Failed", reason: "SignerValidationFailure" });
    expect(status.conditions[1].message).toContain(message);
    expect(status.certificate).toBeUndefined();
  });

  test("waits for another approver if its signer is not built in", async () => {
    const { request } = await certificateRequest("CN=x");
    await server.post(signingRequests, {
      metadata: { name: "foreign" },
      spec: { request, signerName: "example.com/signer", usages: clientUsages },
    });
    await approve("foreign");
    await Bun.sleep(50);
    expect((await server.get(`${signingRequests}/foreign`)).json.status.certificate).toBeUndefined();
  });

  test("of a kubelet for itself is approved automatically", async () => {
    const { request } = await certificateRequest("CN=system:node:n2, O=system:nodes");
    await ask("kubelet", "kube-apiserver-client-kubelet", request, clientUsages);
    const { status } = await answerOnce(`${signingRequests}/kubelet`, isSigned);
    expect(status.conditions[0]).toMatchObject({ type: "Approved", reason: "AutoApproved" });
  });
});

describe("a Secret for a token", () => {
  const secret = (name: string, account: string) =>
    server.post(`${core}/secrets`, {
      metadata: { name, annotations: { "kubernetes.io/service-account.name": account } },
      type: "kubernetes.io/service-account-token",
    });

  test("is filled with a token that works until the Secret is deleted", async () => {
    await server.post(`${core}/serviceaccounts`, { metadata: { name: "robot" } });
    await secret("robot-token", "robot");
    const { data, metadata } = await answerOnce(
      `${core}/secrets/robot-token`,
      ({ json }) => json.data?.token !== undefined,
    );
    expect(metadata.annotations["kubernetes.io/service-account.uid"]).toBe(
      (await server.get(`${core}/serviceaccounts/robot`)).json.metadata.uid,
    );
    expect(Buffer.from(data["ca.crt"], "base64").toString()).toBe(server.running.ca);
    expect(Buffer.from(data.namespace, "base64").toString()).toBe("default");
    const token = Buffer.from(data.token, "base64").toString();
    expect((await server.get("/api", { token })).code).toBe(200);
    const used = "kubernetes.io/legacy-token-last-used";
    const labelled = await answerOnce(
      `${core}/secrets/robot-token`,
      ({ json }) => json.metadata.labels?.[used] !== undefined,
    );
    expect(labelled.metadata.labels[used]).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect((await server.get("/api", { token })).code).toBe(200);
    await server.request("DELETE", `${core}/secrets/robot-token`);
    expect((await server.get("/api", { token })).code).toBe(401);
  });

  test("is filled where it is marked as empty", async () => {
    await server.post(`${core}/serviceaccounts`, { metadata: { name: "empty" } });
    await server.post(`${core}/secrets`, {
      metadata: { name: "empty-token", annotations: { "kubernetes.io/service-account.name": "empty" } },
      type: "kubernetes.io/service-account-token",
      data: { token: "", namespace: "" },
    });
    const { data } = await answerOnce(`${core}/secrets/empty-token`, ({ json }) => json.data.token !== "");
    expect(Buffer.from(data.namespace, "base64").toString()).toBe("default");
    const token = Buffer.from(data.token, "base64").toString();
    expect((await server.get("/api", { token })).code).toBe(200);
    // Without a binding, a service account may not do anything.
    expect((await server.get(`${core}/configmaps`, { token })).code).toBe(403);
  });

  test("is watched for its use, and since when is to be read", async () => {
    const path = `${kubeSystem}/configmaps/kube-apiserver-legacy-service-account-token-tracking`;
    const date = /^\d{4}-\d{2}-\d{2}$/;
    const { data } = await answerOnce(path, ({ json }) => date.test(json.data?.since));
    const old = { data: { since: "2020-02-02" } };
    await server.patch(path, "application/merge-patch+json", old);
    await Bun.sleep(50);
    expect((await server.get(path)).json.data.since).toBe("2020-02-02");
    await server.patch(path, "application/merge-patch+json", { data: { since: "yesterday" } });
    await answerOnce(path, ({ json }) => json.data.since === data.since);
  });

  test("goes with its account", async () => {
    await server.post(`${core}/serviceaccounts`, { metadata: { name: "leaver" } });
    await secret("leaver-token", "leaver");
    await answerOnce(`${core}/secrets/leaver-token`, ({ json }) => json.data?.token !== undefined);
    await server.request("DELETE", `${core}/serviceaccounts/leaver`);
    await answerOnce(`${core}/secrets/leaver-token`, ({ code }) => code === 404);
  });
});

describe("bootstrap tokens", () => {
  const token = (id: string, change: Record<string, string> = {}) =>
    server.post(`${kubeSystem}/secrets`, {
      metadata: { name: `bootstrap-token-${id}` },
      type: "bootstrap.kubernetes.io/token",
      stringData: {
        "token-id": id,
        "token-secret": "0123456789abcdef",
        "usage-bootstrap-signing": "true",
        "usage-bootstrap-authentication": "true",
        ...change,
      },
    });

  test("sign cluster-info with HS256 under the whole token until they are removed", async () => {
    const info = "/api/v1/namespaces/kube-public/configmaps";
    await server.post(info, { metadata: { name: "cluster-info" }, data: { kubeconfig: "clusters: []\n" } });
    await token("signer");
    const { data } = await answerOnce(
      `${info}/cluster-info`,
      ({ json }) => json.data["jws-kubeconfig-signer"] !== undefined,
    );
    const [header = "", payload, signature] = data["jws-kubeconfig-signer"].split(".");
    expect(payload).toBe("");
    expect(JSON.parse(Buffer.from(header, "base64url").toString())).toEqual({ alg: "HS256", kid: "signer" });
    const signed = `${header}.${Buffer.from("clusters: []\n").toString("base64url")}`;
    expect(createHmac("sha256", "signer.0123456789abcdef").update(signed).digest("base64url")).toBe(signature);
    await server.request("DELETE", `${kubeSystem}/secrets/bootstrap-token-signer`);
    await answerOnce(`${info}/cluster-info`, ({ json }) => json.data["jws-kubeconfig-signer"] === undefined);
  });

  test("are removed when they expire", async () => {
    await token("expire", { expiration: new Date(Date.now() + 1_500).toISOString() });
    await answerOnce(`${kubeSystem}/secrets/bootstrap-token-expire`, ({ code }) => code === 404);
  });
});
