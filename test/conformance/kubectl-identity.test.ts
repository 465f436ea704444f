import "reflect-metadata";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import * as x509 from "@peculiar/x509";
import { decodeJwt } from "jose";
import { type RunningServer } from "../../src/index.ts";
import { startServer } from "../etcd/start-server.ts";
import { Client } from "./client.ts";
import { Kubectl } from "./kubectl.ts";

/** Tests every way in which kubectl and the JavaScript client authenticate. */
let server: RunningServer;
let scratch: string;
let kubectl: Kubectl;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "quorate-identity-"));
  server = await startServer({ authorizationMode: ["RBAC"] });
  kubectl = await Kubectl.open(server.kubeconfig);
  await kubectl.ok(["create", "serviceaccount", "builder"]);
  await kubectl.ok(["create", "rolebinding", "builder", "--clusterrole=view", "--serviceaccount=default:builder"]);
});

afterAll(async () => {
  await kubectl[Symbol.asyncDispose]();
  await server.close({ graceMs: 0 });
  await rm(scratch, { recursive: true });
});

async function withUser<T>(user: object, use: (kubectl: Kubectl) => Promise<T>): Promise<T> {
  const cluster = { server: server.url, "certificate-authority-data": btoa(server.ca) };
  const kubeconfig = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "it",
    clusters: [{ name: "it", cluster }],
    users: [{ name: "it", user }],
    contexts: [{ name: "it", context: { cluster: "it", user: "it" } }],
  };
  await using other = await Kubectl.open(JSON.stringify(kubeconfig));
  return await use(other);
}

const whoAmI = async (kube: Kubectl) => JSON.parse(await kube.ok(["auth", "whoami", "-o", "json"])).status.userInfo;

test("auth whoami shows the administrator by certificate", async () => {
  expect(await whoAmI(kubectl)).toMatchObject({
    username: "kubernetes-admin",
    groups: ["system:masters", "system:authenticated"],
  });
  expect(await kubectl.ok(["auth", "whoami"])).toContain("kubernetes-admin");
});

describe("create token", () => {
  test("gives a token with the requested lifetime and audiences", async () => {
    const token = (await kubectl.ok(["create", "token", "builder", "--duration=20m", "--audience=vault"])).trim();
    const { aud, exp = 0, iat = 0 } = decodeJwt(token);
    expect([aud, exp - iat]).toEqual([["vault"], 1_200]);
  });

  test("returns one with the account's permissions", async () => {
    const token = (await kubectl.ok(["create", "token", "builder"])).trim();
    await withUser({ token }, async (builder) => {
      expect((await whoAmI(builder)).username).toBe("system:serviceaccount:default:builder");
      await builder.ok(["get", "pods"]);
      expect(await builder.refused(["get", "secrets"])).toContain(
        'User "system:serviceaccount:default:builder" cannot list resource "secrets" in API group "" in the namespace "default"',
      );
    });
  });

  test("gives one that ends with the Secret that it is bound to", async () => {
    await kubectl.ok(["create", "secret", "generic", "leash"]);
    const bound = ["--bound-object-kind=Secret", "--bound-object-name=leash"];
    const token = (await kubectl.ok(["create", "token", "builder", ...bound])).trim();
    await withUser({ token }, async (builder) => {
      await builder.ok(["get", "pods"]);
      await kubectl.ok(["delete", "secret", "leash"]);
      expect(await builder.refused(["get", "pods"])).toContain("You must be logged in to the server");
    });
  });

  test("is refused for less than ten minutes", async () => {
    expect(await kubectl.refused(["create", "token", "builder", "--duration=5m"])).toContain(
      "may not specify a duration less than 10 minutes",
    );
  });
});

describe("certificate approve", () => {
  test("gives a certificate that logs in, until the next request", async () => {
    const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
    const keys = (await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as CryptoKeyPair;
    const request = await x509.Pkcs10CertificateRequestGenerator.create({
      name: "CN=jane, O=developers",
      keys,
      signingAlgorithm: algorithm,
    });
    await kubectl.apply({
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { name: "jane" },
      spec: {
        request: btoa(request.toString("pem")),
        signerName: "kubernetes.io/kube-apiserver-client",
        usages: ["client auth"],
      },
    });
    expect(await kubectl.ok(["get", "csr", "jane"])).toMatch(/kubernetes-admin .*Pending/);
    await kubectl.ok(["certificate", "approve", "jane"]);
    await kubectl.ok(["wait", "csr/jane", "--for=jsonpath={.status.certificate}", "--timeout=5s"]);
    expect(await kubectl.ok(["get", "csr", "jane"])).toContain("Approved,Issued");

    const certificate = await kubectl.ok(["get", "csr", "jane", "-o", "jsonpath={.status.certificate}"]);
    const key = x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY");
    const user = { "client-certificate-data": certificate, "client-key-data": btoa(key) };
    await withUser(user, async (jane) => {
      expect(await whoAmI(jane)).toMatchObject({ username: "jane", groups: ["developers", "system:authenticated"] });
    });
  });

  test("deny is shown, and final", async () => {
    const csr = await kubectl.get(["csr", "jane"]);
    await kubectl.apply({
      apiVersion: csr.apiVersion,
      kind: csr.kind,
      metadata: { name: "denied" },
      spec: { request: csr.spec.request, signerName: csr.spec.signerName, usages: csr.spec.usages },
    });
    await kubectl.ok(["certificate", "deny", "denied"]);
    expect(await kubectl.ok(["get", "csr", "denied"])).toContain("Denied");
    await kubectl.refused(["certificate", "approve", "denied"]);
  });
});

test("an exec plugin provides the token", async () => {
  const token = (await kubectl.ok(["create", "token", "builder"])).trim();
  const plugin = join(scratch, "plugin.sh");
  const credential = {
    apiVersion: "client.authentication.k8s.io/v1",
    kind: "ExecCredential",
    status: { token },
  };
  await writeFile(plugin, `#!/bin/sh\ncat <<'END'\n${JSON.stringify(credential)}\nEND\n`);
  await chmod(plugin, 0o700);
  const exec = { apiVersion: credential.apiVersion, command: plugin, interactiveMode: "Never" };
  await withUser({ exec }, async (builder) => {
    expect((await whoAmI(builder)).username).toBe("system:serviceaccount:default:builder");
  });
});

test("a client in a pod uses the token and the authority that are mounted there", async () => {
  const root = join(scratch, "pod");
  const mount = join(root, "var/run/secrets/kubernetes.io/serviceaccount");
  await mkdir(mount, { recursive: true });
  await writeFile(join(mount, "token"), (await kubectl.ok(["create", "token", "builder"])).trim());
  await writeFile(join(mount, "ca.crt"), server.ca);
  await writeFile(join(mount, "namespace"), "default");
  const { hostname, port } = new URL(server.url);
  const environment = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
  Object.assign(process.env, environment);
  try {
    const config = new KubeConfig();
    config.loadFromCluster(root);
    const { core } = new Client(config);
    expect((await core.listNamespacedPod({ namespace: "default" })).items).toEqual([]);
    await expect(core.listNamespacedSecret({ namespace: "default" })).rejects.toMatchObject({ code: 403 });
  } finally {
    for (const name of Object.keys(environment)) delete process.env[name];
  }
});
