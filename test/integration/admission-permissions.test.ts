import "reflect-metadata";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as x509 from "@peculiar/x509";
import { mergePatch, TestServer } from "./server.ts";

/** Plugins that ask the authorizer about more than the request itself, on a server with RBAC. */
const directory = mkdtempSync(join(tmpdir(), "admission-permissions-"));
const csrs = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const rbac = "/apis/rbac.authorization.k8s.io/v1";
const signer = "example.com/tests";
const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
let server: TestServer;

beforeAll(async () => {
  const tokenAuthFile = join(directory, "tokens.csv");
  writeFileSync(
    tokenAuthFile,
    ["approver", "clerk", "owner"].map((name) => `${name}-token,${name},${name}`).join("\n"),
  );
  server = await TestServer.start({
    authorizationMode: ["RBAC"],
    tokenAuthFile,
    enableAdmissionPlugins: ["OwnerReferencesPermissionEnforcement"],
  });
});
afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true });
});

async function grant(user: string, ...rules: object[]): Promise<void> {
  const name = `${user}-${crypto.randomUUID().slice(0, 8)}`;
  await server.create(`${rbac}/clusterroles`, { metadata: { name }, rules });
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
  const subjects = [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: user }];
  await server.create(`${rbac}/clusterrolebindings`, { metadata: { name }, roleRef, subjects });
}

const as = (user: string) => ({ token: `${user}-token` });
const certificates = { apiGroups: ["certificates.k8s.io"] };

describe("signing requests", () => {
  const body = async (name: string, subject: string, signerName = signer) => {
    const keys = (await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as CryptoKeyPair;
    const options = { name: subject, keys, signingAlgorithm: algorithm };
    const pem = (await x509.Pkcs10CertificateRequestGenerator.create(options)).toString("pem");
    const request = Buffer.from(pem).toString("base64");
    return { metadata: { name }, spec: { request, signerName, usages: ["client auth"] } };
  };
  const approval = {
    status: { conditions: [{ type: "Approved", status: "True", reason: "Test", message: "fine" }] },
  };

  test("are approved only by users with permission for the signer", async () => {
    await server.create(csrs, await body("mine", "CN=test"));
    const mayPatch = { ...certificates, verbs: ["patch"], resources: ["certificatesigningrequests/approval"] };
    await grant("clerk", mayPatch);
    await grant("approver", mayPatch, {
      ...certificates,
      verbs: ["approve"],
      resources: ["signers"],
      resourceNames: ["example.com/*"],
    });
    const refused = await server.patch(`${csrs}/mine/approval`, mergePatch, approval, as("clerk"));
    expect({ code: refused.code, message: refused.json.message }).toEqual({
      code: 403,
      message: `certificatesigningrequests.certificates.k8s.io "mine" is forbidden: user not permitted to approve requests with signerName "${signer}"`,
    });
    const approved = await server.patch(`${csrs}/mine/approval`, mergePatch, approval, as("approver"));
    expect(approved.code).toBe(200);
    expect(approved.json.status.conditions).toMatchObject([{ type: "Approved" }]);
  });

  test("are not signed by users who may only write the status", async () => {
    await server.create(csrs, await body("unsigned", "CN=test"));
    await grant("clerk", { ...certificates, verbs: ["patch"], resources: ["certificatesigningrequests/status"] });
    const failed = { status: { conditions: [{ type: "Failed", status: "True", reason: "Test" }] } };
    const { json } = await server.patch(`${csrs}/unsigned/status`, mergePatch, failed, as("clerk"));
    expect(json.message).toEndWith(`user not permitted to sign requests with signerName "${signer}"`);
  });

  test("for the group that may do everything are refused", async () => {
    const clients = "kubernetes.io/kube-apiserver-client";
    const { code, json } = await server.post(csrs, await body("root", "CN=x, O=system:masters", clients));
    expect(code).toBe(403);
    expect(json.message).toEndWith(`use of ${clients} signer with system:masters group is not allowed`);
  });
});

test("an owner is set only by users who may delete the object and set the owner's finalizers", async () => {
  const namespace = await server.namespace();
  const path = `/api/v1/namespaces/${namespace}/secrets`;
  const owner = await server.create(path, { metadata: { name: "owner" } });
  await grant("owner", { apiGroups: [""], verbs: ["create"], resources: ["secrets"] });
  const owned = (name: string, blockOwnerDeletion: boolean) => ({
    metadata: {
      name,
      ownerReferences: [
        { apiVersion: "v1", kind: "Secret", name: "owner", uid: owner.metadata.uid, blockOwnerDeletion },
      ],
    },
  });
  const message = async (name: string, blocks: boolean) =>
    (await server.post(path, owned(name, blocks), as("owner"))).json.message;
  expect(await message("a", false)).toStartWith(
    'secrets "a" is forbidden: cannot set an ownerRef on a resource you can\'t delete: ',
  );
  await grant("owner", { apiGroups: [""], verbs: ["delete"], resources: ["secrets"] });
  expect(await message("a", false)).toBeUndefined();
  expect(await message("b", true)).toStartWith(
    'secrets "b" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can\'t set finalizers on: ',
  );
  await grant("owner", { apiGroups: [""], verbs: ["update"], resources: ["secrets/finalizers"] });
  expect(await message("b", true)).toBeUndefined();
});
