import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pinOf } from "../../src/access/certificates/certificate-pin.ts";
import { type AgentPaths, agentPaths } from "../../src/agent/join/agent-paths.ts";
import { readCertificateFile } from "../../src/agent/join/certificate-file.ts";
import { type JoinNodeParts, joinNode } from "../../src/agent/join/join-node.ts";
import { joinBindings, joinTokenObject } from "../../src/agent/join/join-objects.ts";
import { requestCertificate } from "../../src/agent/join/request-certificate.ts";
import { RotatingCertificate } from "../../src/agent/join/rotating-certificate.ts";
import { rotatingServer } from "../../src/agent/join/rotating-server.ts";
import { AgentNode } from "../../src/agent/node/agent-node.ts";
import { nodeDefaults } from "../../src/agent/node/node-settings.ts";
import { FakeMachine } from "../../src/agent/node/testing.ts";
import { httpClient } from "../../src/client/http-client.ts";
import { readKubeconfig } from "../../src/client/kubeconfig.ts";
import { newJoinToken } from "../../src/cluster/join-token.ts";
import { systemClock } from "../../src/process/clock.ts";
import { until } from "../until.ts";
import { TestServer } from "./server.ts";

const directory = mkdtempSync(join(tmpdir(), "quorate-"));
const token = newJoinToken();
let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ enableBootstrapTokenAuth: true, controllers: "*,bootstrapsigner" });
  const secret = joinTokenObject(token, Date.now() + 3_600_000, "test");
  await server.create("/api/v1/namespaces/kube-system/secrets", secret.object);
  for (const { object } of joinBindings()) {
    await server.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", object);
  }
});

afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true });
});

/** Returns the message of the error. The matcher `rejects` would run the event loop inside itself, which breaks streams. */
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => "",
    (error: Error) => error.message,
  );

let machines = 0;
const newPaths = () => {
  const root = join(directory, `machine-${++machines}`);
  return agentPaths(join(root, "kubeconfig"), join(root, "pki"));
};
const told: string[] = [];
const partsFor = (nodeName: string, paths: AgentPaths, change: Partial<JoinNodeParts> = {}): JoinNodeParts => ({
  url: server.running.url,
  token,
  caHash: pinOf(server.running.ca),
  nodeName,
  paths,
  clock: systemClock,
  random: Math.random,
  tell: (text) => void told.push(text),
  ...change,
});
const node = async (name: string) => (await server.get(`/api/v1/nodes/${name}`)).json;

describe("a machine that joins", () => {
  test("gets a certificate, and its node works under the Node authorizer and NodeRestriction", async () => {
    const paths = newPaths();
    await joinNode(partsFor("node-1", paths));
    expect(statSync(paths.kubeconfig).mode & 0o777).toBe(0o600);
    expect(statSync(paths.clientCertificate).mode & 0o777).toBe(0o600);
    expect(readFileSync(paths.kubeconfig, "utf8")).not.toContain(token.secret);
    expect(told.join()).not.toContain(token.secret);

    using client = httpClient(readKubeconfig(paths.kubeconfig));
    using _node = new AgentNode({
      client,
      settings: { ...nodeDefaults, name: "node-1", hostname: "node-1", version: "v1.36.2", labels: { team: "x" } },
      machine: new FakeMachine(),
      runtime: { version: "simulated://1", problems: async () => [], images: async () => [] },
      pressures: () => new Set(),
      clock: systemClock,
      random: Math.random,
      cached: () => undefined,
      record() {},
      onError: (error) => expect(error).toBeUndefined(),
    });
    const lease = await until(
      async () => (await server.get("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-1")).json,
      ({ kind }) => kind === "Lease",
    );
    const { metadata, status } = await node("node-1");
    expect(lease).toMatchObject({
      metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "node-1", uid: metadata.uid }] },
      spec: { holderIdentity: "node-1", leaseDurationSeconds: 40 },
    });
    expect(metadata.labels).toMatchObject({ "kubernetes.io/hostname": "node-1", team: "x" });
    expect(status.conditions.find(({ type }: any) => type === "Ready")).toMatchObject({
      status: "True",
      reason: "KubeletReady",
    });
    expect(status.addresses).toEqual([
      { type: "InternalIP", address: "10.0.0.5" },
      { type: "Hostname", address: "node-1" },
    ]);
  });

  test("does nothing when it has joined before, and refuses another name", async () => {
    const paths = newPaths();
    await joinNode(partsFor("node-2", paths));
    const before = readFileSync(paths.clientCertificate, "utf8");
    await joinNode(partsFor("node-2", paths));
    expect(readFileSync(paths.clientCertificate, "utf8")).toBe(before);
    expect(await failureOf(joinNode(partsFor("node-3", paths)))).toMatch(/of another node than node-3/);
  });

  test("takes up its earlier request after a restart", async () => {
    const paths = newPaths();
    await joinNode(partsFor("node-4", paths));
    const { key = "" } = (await readCertificateFile(paths.clientCertificate)) ?? {};
    rmSync(paths.clientCertificate);
    writeFileSync(paths.pendingKey, key, { mode: 0o600 });
    await joinNode(partsFor("node-4", paths));
    expect((await readCertificateFile(paths.clientCertificate))?.key).toBe(key);
    const { items } = (await server.get("/apis/certificates.k8s.io/v1/certificatesigningrequests")).json;
    const names = items
      .filter(({ spec }: any) => atob(spec.request).length > 0)
      .map(({ metadata }: any) => metadata.name);
    expect(names.filter((name: string) => name.startsWith("node-csr-")).length).toBe(names.length);
  });

  test("renews its certificate with its own identity, and new connections use it", async () => {
    const paths = newPaths();
    await joinNode(partsFor("node-5", paths));
    const kubeconfig = readKubeconfig(paths.kubeconfig);
    let certificate: RotatingCertificate | undefined;
    using client = httpClient(rotatingServer(kubeconfig, () => certificate?.current));
    const onError = (error: unknown) => expect(error).toBeUndefined();
    const parts = { client, clock: systemClock, random: Math.random, onError };
    const before = await readCertificateFile(paths.clientCertificate);
    // A clock at the end of the first certificate's life.
    const late = { ...systemClock, nowMs: () => Date.now() + 360 * 24 * 3_600_000 };
    const changed = Promise.withResolvers<void>();
    certificate = await RotatingCertificate.open({
      file: paths.clientCertificate,
      signer: "kubernetes.io/kube-apiserver-client-kubelet",
      clock: late,
      random: () => 0.5,
      subject: () => ({ nodeName: "node-5", dnsNames: [], ipAddresses: [] }),
      request: (wanted) => requestCertificate(parts, wanted),
      onChanged: () => changed.resolve(),
      onError,
    });
    using _rotation = certificate;
    await changed.promise;
    expect(certificate.current).not.toEqual(before as never);
    await client.get({ group: "", version: "v1", resource: "nodes" }, { name: "node-5" }).catch((error) => {
      expect(error.code).toBe(404);
    });
  });

  test("gets a serving certificate when somebody approves it", async () => {
    const paths = newPaths();
    await joinNode(partsFor("node-6", paths));
    using client = httpClient(readKubeconfig(paths.kubeconfig));
    const onError = (error: unknown) => expect(error).toBeUndefined();
    const issued = requestCertificate(
      { client, clock: systemClock, random: Math.random, onError },
      {
        signer: "kubernetes.io/kubelet-serving",
        subject: { nodeName: "node-6", dnsNames: ["node-6"], ipAddresses: ["10.0.0.6"] },
        waitMsMax: 20_000,
      },
    );
    const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    const find = async () =>
      (await server.get(requests)).json.items.find(
        ({ spec }: any) => spec.signerName === "kubernetes.io/kubelet-serving",
      );
    const request = await until(find, (found) => found !== undefined);
    expect(request.status).toEqual({});
    request.status = { conditions: [{ type: "Approved", status: "True", reason: "Test", message: "" }] };
    expect((await server.put(`${requests}/${request.metadata.name}/approval`, request)).code).toBe(200);
    expect((await issued).certificate).toContain("BEGIN CERTIFICATE");
  });
});

describe("a machine does not join", () => {
  const refused = (change: Partial<JoinNodeParts>) => joinNode(partsFor("node-9", newPaths(), change));

  test("with a wrong hash, and sends nothing secret", async () => {
    const caHash = `sha256:${"0".repeat(64)}`;
    expect(await failureOf(refused({ caHash }))).toMatch(/none of its certificates has the hash.*nothing was sent/);
  });

  test("without a hash, while the server shows no cluster-info", async () => {
    expect(await failureOf(refused({ caHash: undefined }))).toMatch(/shows no cluster-info to everyone/);
  });

  test("with a token that is not valid", async () => {
    expect(await failureOf(refused({ token: { id: "aaaaaa", secret: "b".repeat(16) } }))).toMatch(
      /the token was not accepted/,
    );
  });

  test("when its request is denied", async () => {
    const group = "rbac.authorization.k8s.io";
    const name = "kubeadm:node-autoapprove-bootstrap";
    await server.delete(`/apis/${group}/v1/clusterrolebindings/${name}`);
    const failure = failureOf(refused({}));
    const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    const open = async () => (await server.get(requests)).json.items.find(({ status }: any) => !status.conditions);
    const request = await until(open, (found) => found !== undefined);
    request.status = { conditions: [{ type: "Denied", status: "True", reason: "No", message: "not this one" }] };
    await server.put(`${requests}/${request.metadata.name}/approval`, request);
    expect(await failure).toMatch("certificate signing request is denied, reason: No, message: not this one");
  });
});

test("a token alone is enough when cluster-info is public and signed with it", async () => {
  const kubeconfig = `clusters:\n- cluster:\n    certificate-authority-data: ${btoa(server.running.ca)}\n    server: x\n`;
  await server.create("/api/v1/namespaces/kube-public/configmaps", {
    metadata: { name: "cluster-info" },
    data: { kubeconfig },
  });
  const rules = [{ apiGroups: [""], resources: ["configmaps"], resourceNames: ["cluster-info"], verbs: ["get"] }];
  const group = "rbac.authorization.k8s.io";
  await server.create(`/apis/${group}/v1/namespaces/kube-public/roles`, { metadata: { name: "info" }, rules });
  await server.create(`/apis/${group}/v1/namespaces/kube-public/rolebindings`, {
    metadata: { name: "info" },
    subjects: [{ kind: "User", apiGroup: group, name: "system:anonymous" }],
    roleRef: { apiGroup: group, kind: "Role", name: "info" },
  });
  await server.post(`/apis/${group}/v1/clusterrolebindings`, joinBindings()[1]?.object);
  const signed = async () => (await server.get("/api/v1/namespaces/kube-public/configmaps/cluster-info")).json.data;
  await until(signed, (data) => `jws-kubeconfig-${token.id}` in data);
  await joinNode(partsFor("node-10", newPaths(), { caHash: undefined }));
  const caHash = `sha256:${"0".repeat(64)}`;
  expect(await failureOf(joinNode(partsFor("node-11", newPaths(), { caHash })))).toMatch(
    /no authority in cluster-info/,
  );
});
