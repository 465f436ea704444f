import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { join } from "node:path";
import { LocalClusterCommand, Scratch } from "./local-cluster.ts";

/** Three replicas whose seats a greedy user occupies. */

const timeoutMs = 180_000;
const replicas = ["m1", "m2", "m3"];
/** More than the seats of a level, as there are 30 for all levels. */
const heldRequests = 40;
const renewals = 10;
const seats = ["--max-requests-inflight=20", "--max-mutating-requests-inflight=10"];
const configMaps = "/api/v1/namespaces/default/configmaps";
const rbac = "rbac.authorization.k8s.io";
const greedyEdits = {
  metadata: { name: "greedy-edits" },
  roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "edit" },
  subjects: [{ apiGroup: rbac, kind: "User", name: "greedy" }],
};
const scratch = new Scratch();
let cluster: LocalClusterCommand;
let members: Member[];

beforeAll(async () => {
  cluster = await new LocalClusterCommand(scratch.directory, "--load-balancer=none", ...seats).ready();
  members = replicas.map((name) => new Member(join(scratch.directory, name)));
}, timeoutMs);
afterAll(async () => {
  for (const member of members) member[Symbol.dispose]();
  await cluster.stop();
  scratch[Symbol.dispose]();
}, timeoutMs);

interface Answer {
  readonly code: number;
  readonly text: string;
}

interface Identity {
  readonly user?: string;
  readonly groups?: readonly string[];
}

/** A connection to one replica, by an administrator who impersonates others. */
class Member implements Disposable {
  readonly #session: ClientHttp2Session;
  readonly #token: string;

  constructor(directory: string) {
    const [, url = ""] = /server: "?([^"\s]+)/.exec(readFileSync(join(directory, "kubeconfig"), "utf8")) ?? [];
    this.#token = readFileSync(join(directory, "pki/token"), "utf8").trim();
    this.#session = connect(url, { ca: readFileSync(join(directory, "pki/ca.crt"), "utf8") });
    this.#session.on("error", () => {});
  }

  /** Starts a creation whose body does not end, so that it keeps its seat. */
  hold(user: string): void {
    this.#open("POST", configMaps, { user }).write("{");
  }

  send(method: string, path: string, identity: Identity = {}, body?: object): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const stream = this.#open(method, path, identity);
    let code = 0;
    let text = "";
    stream.setEncoding("utf8");
    stream.on("response", ({ ":status": status }) => (code = Number(status)));
    stream.on("data", (chunk: string) => (text += chunk));
    stream.on("end", () => resolve({ code, text }));
    stream.on("error", reject);
    stream.end(body === undefined ? undefined : JSON.stringify(body));
    return promise;
  }

  async json(method: string, path: string, identity: Identity = {}, body?: object): Promise<any> {
    const { code, text } = await this.send(method, path, identity, body);
    if (code >= 300) throw new Error(`${method} ${path}: ${code} ${text}`);
    return JSON.parse(text);
  }

  [Symbol.dispose](): void {
    this.#session.destroy();
  }

  #open(method: string, path: string, { user, groups = [] }: Identity): ClientHttp2Stream {
    const stream = this.#session.request({
      ":method": method,
      ":path": path,
      authorization: `Bearer ${this.#token}`,
      "content-type": "application/json",
      ...(user === undefined ? {} : { "impersonate-user": user, "impersonate-group": [...groups] }),
    });
    stream.on("error", () => {});
    return stream;
  }
}

async function waitingRequests(member: Member): Promise<number> {
  const { text } = await member.send("GET", "/metrics");
  const lines = text.split("\n").filter((line) => line.startsWith("apiserver_flowcontrol_current_inqueue_requests{"));
  return lines.reduce((sum, line) => sum + Number(line.split(" ")[1]), 0);
}

/** Creates a Lease through one replica, and renews it through all of them. */
async function renew(path: string, name: string, identity: Identity): Promise<number[]> {
  const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name } };
  const [first] = members as [Member];
  let current = await first.json("POST", path, identity, { ...lease, spec: { holderIdentity: name } });
  const codes: number[] = [];
  for (let at = 0; at < renewals; at++) {
    const member = members[at % members.length] as Member;
    const renewTime = new Date(Date.now()).toISOString().replace("Z", "000Z");
    const { code, text } = await member.send("PUT", `${path}/${name}`, identity, {
      ...current,
      spec: { ...current.spec, renewTime },
    });
    codes.push(code);
    if (code === 200) current = JSON.parse(text);
  }
  return codes;
}

test(
  "while a user occupies all seats of its level on every replica, leases are renewed and health checks answered",
  async () => {
    const controllers = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/quorate-controllers";
    const [first] = members as [Member];
    const before = await first.json("GET", controllers);
    await first.json("POST", "/api/v1/nodes", {}, { apiVersion: "v1", kind: "Node", metadata: { name: "worker" } });
    await first.json("POST", `/apis/${rbac}/v1/clusterrolebindings`, {}, greedyEdits);
    for (const member of members) {
      for (let at = 0; at < heldRequests; at++) member.hold("greedy");
      while ((await waitingRequests(member)) === 0) await Bun.sleep(10);
    }

    const leases = (namespace: string) => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
    const scheduler = { user: "system:kube-scheduler" };
    const node = { user: "system:node:worker", groups: ["system:nodes"] };
    expect(await renew(leases("kube-system"), "kube-scheduler", scheduler)).toEqual(Array(renewals).fill(200));
    expect(await renew(leases("kube-node-lease"), "worker", node)).toEqual(Array(renewals).fill(200));
    for (const member of members) {
      for (const path of ["/livez", "/readyz", "/healthz"]) {
        expect(await member.send("GET", path, { user: "greedy" })).toEqual({ code: 200, text: "ok" });
      }
      // The greedy user is still there.
      expect(await waitingRequests(member)).toBeGreaterThan(0);
    }

    // The controllers renew their lease, and have not moved to another server.
    for (;;) {
      const after = await first.json("GET", controllers);
      expect(after.spec.holderIdentity).toBe(before.spec.holderIdentity);
      expect(after.spec.leaseTransitions).toBe(before.spec.leaseTransitions);
      if (after.spec.renewTime > before.spec.renewTime) break;
      await Bun.sleep(100);
    }
  },
  timeoutMs,
);
