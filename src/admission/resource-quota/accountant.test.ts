import { expect, test } from "bun:test";
import type { KubeObject } from "../../api/object-meta.ts";
import { status } from "../../api/status.ts";
import type { ResourceQuota } from "../../api/types/core-v1.ts";
import { systemClock } from "../../process/clock.ts";
import { pod } from "../testing.ts";
import { type Charge, QuotaAccountant } from "./accountant.ts";
import { quotaRequest } from "./check.ts";

const pods = { group: "", resource: "pods" };
const namespace = "ns";

/** A namespace with quotas and pods, whose quotas other writers can change. */
class Namespace {
  readonly stored = new Map<string, ResourceQuota>();
  readonly pods: KubeObject[] = [];
  /** Simulates another replica. Called before a status is written. */
  beforeWrite: (quota: ResourceQuota) => void = () => {};
  writes = 0;
  readonly accountant: QuotaAccountant;

  constructor(quotas: Record<string, Record<string, string>>) {
    for (const [name, hard] of Object.entries(quotas)) {
      this.put({ metadata: { name, uid: name, namespace, resourceVersion: "0" }, spec: { hard } } as ResourceQuota);
    }
    this.accountant = new QuotaAccountant({
      clock: systemClock,
      countable: () => [pods],
      lookup: {
        get: () => undefined,
        entry: () => undefined,
        list: () => [...this.stored.values()],
        scan: () => this.pods.map((object) => ({ identity: object, read: () => object })),
      },
      writeStatus: async (quota) => {
        this.beforeWrite(quota);
        await Promise.resolve();
        const name = quota.metadata.name as string;
        const current = this.stored.get(name);
        if (current === undefined) throw status.notFound({ group: "", resource: "resourcequotas", name });
        if (current.metadata.resourceVersion !== quota.metadata.resourceVersion) {
          throw status.staleResourceVersion({ group: "", resource: "resourcequotas", name });
        }
        this.put(quota);
      },
    });
  }

  put(quota: ResourceQuota): void {
    this.writes++;
    const resourceVersion = String(this.writes);
    this.stored.set(quota.metadata.name as string, { ...quota, metadata: { ...quota.metadata, resourceVersion } });
  }

  used(name: string): unknown {
    return this.stored.get(name)?.status?.used;
  }

  async charge(spec: object = {}, dryRun = false): Promise<Charge | string | undefined> {
    return this.accountant.charge(namespace, quotaRequest(pods, pod(spec), undefined, 0), dryRun);
  }

  /** Charges and stores a pod. */
  async create(): Promise<Charge | string | undefined> {
    const charge = await this.charge();
    if (typeof charge === "object") {
      this.pods.push(pod());
      charge.settle(true);
    }
    return charge;
  }

  /** Resolves when pending counts are done. */
  async idle(): Promise<void> {
    await Bun.sleep(60);
  }
}

test("requests of one turn cost one write per quota", async () => {
  const at = new Namespace({ q: { pods: "10" } });
  const before = at.writes;
  await Promise.all(Array.from({ length: 8 }, () => at.create()));
  expect(at.writes - before).toBe(1);
  expect(at.used("q")).toEqual({ pods: "8" });
});

test("the limit holds despite concurrent writes of the quota", async () => {
  const at = new Namespace({ q: { pods: "5" } });
  let others = 2;
  at.beforeWrite = ({ metadata }) => {
    if (others-- <= 0) return;
    const quota = at.stored.get(metadata.name as string) as ResourceQuota;
    const usedPods = Number(quota.status?.used?.["pods"] ?? "0") + 1;
    at.pods.push(pod());
    at.put({ ...quota, status: { hard: { pods: "5" }, used: { pods: String(usedPods) } } } as ResourceQuota);
  };
  const answers = await Promise.all(Array.from({ length: 6 }, () => at.create()));
  expect(answers.filter((answer) => typeof answer === "object").length).toBe(3);
  expect(at.used("q")).toEqual({ pods: "5" });
  expect(at.pods.length).toBe(5);
});

test("a charge to one quota is undone when another rejects the request", async () => {
  const at = new Namespace({ a: { pods: "5" }, b: { pods: "1" } });
  let raced = false;
  at.beforeWrite = ({ metadata }) => {
    if (metadata.name !== "b" || raced) return;
    raced = true;
    // Another replica takes the last place of b after our request was counted for a.
    at.pods.push(pod());
    at.put({ ...(at.stored.get("b") as ResourceQuota), status: { hard: { pods: "1" }, used: { pods: "1" } } });
  };
  expect(await at.create()).toBe("exceeded quota: b, requested: pods=1, used: pods=1, limited: pods=1");
  await at.idle();
  expect([at.used("a"), at.used("b")]).toEqual([{ pods: "1" }, { pods: "1" }]);
});

test("a count during a request neither forgets it nor counts it twice", async () => {
  const at = new Namespace({ q: { pods: "2" } });
  const charge = (await at.charge()) as Charge;
  at.accountant.recount(namespace);
  await at.idle();
  expect(at.used("q")).toEqual({ pods: "1" });
  at.pods.push(pod());
  at.accountant.recount(namespace);
  await at.idle();
  charge.settle(true);
  await at.idle();
  expect(at.used("q")).toEqual({ pods: "1" });
});

test("a request that fails afterwards is undone", async () => {
  const at = new Namespace({ q: { pods: "1" } });
  const charge = (await at.charge()) as Charge;
  expect(await at.charge()).toStartWith("exceeded quota: q");
  charge.settle(false);
  await at.idle();
  expect(at.used("q")).toEqual({ pods: "0" });
  expect(await at.create()).toBeObject();
});

test("a dry run is checked and not counted", async () => {
  const at = new Namespace({ q: { pods: "1" } });
  expect(await at.charge({}, true)).toBeObject();
  expect(at.used("q")).toEqual({ pods: "0" });
  await at.create();
  expect(await at.charge({}, true)).toStartWith("exceeded quota: q");
});

test("a namespace without quotas causes no wait", () => {
  const at = new Namespace({});
  expect(at.accountant.charge(namespace, quotaRequest(pods, pod(), undefined, 0), false)).toBeUndefined();
});

test("a write that fails for another reason fails the waiting requests, and the next one is tried again", async () => {
  const at = new Namespace({ q: { pods: "1" } });
  at.beforeWrite = () => {
    throw status.badRequest("not today");
  };
  await expect(at.charge()).rejects.toThrow("not today");
  at.beforeWrite = () => {};
  expect(await at.create()).toBeObject();
});
