import { afterEach, beforeEach, expect, test } from "bun:test";
import { Readable } from "node:stream";
import type { APIService } from "../../api/types/apiregistration-v1.ts";
import { ApiServices } from "../../kinds/apiregistration/api-services.ts";
import { availableCondition } from "../../kinds/apiregistration/available-condition.ts";
import { storedServices } from "../../server/service-addresses.ts";
import { ControllerTest } from "../testing.ts";
import { startAvailabilityController } from "./availability-controller.ts";

let world: ControllerTest;
let running: Disposable;
let code: number;
let requests: number;

beforeEach(async () => {
  world = await ControllerTest.open();
  [code, requests] = [200, 0];
  const { registries, store, clock, onError } = world;
  const backends = {
    resolve: () => ({ host: "10.0.0.1", port: 443 }),
    tlsOf: () => ({ servername: "s.n.svc", rejectUnauthorized: true, allowPartialTrustChain: true }),
    forgetIdle() {},
    async send() {
      requests++;
      return { code, headers: [], body: Readable.from([]) as never };
    },
  };
  const apis = new ApiServices(world.registry("apiservices.apiregistration.k8s.io"), store);
  const services = storedServices(() => registries);
  running = startAvailabilityController({ apis, registries, store, clock, backends, services, onError });
});

afterEach(async () => {
  running[Symbol.dispose]();
  await world[Symbol.asyncDispose]();
});

function createApiService(service: { namespace: string; name: string } | undefined): Promise<unknown> {
  const ranks = { groupPriorityMinimum: 1_000, versionPriority: 15 };
  return world.create("apiservices.apiregistration.k8s.io", {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: "v1.g.io" },
    spec: { group: "g.io", version: "v1", ...ranks, ...(service && { service, insecureSkipTLSVerify: true }) },
  });
}

async function createService(): Promise<void> {
  const ports = [{ name: "web", port: 443 }];
  await world.create("services", { kind: "Service", metadata: { name: "s", namespace: "n" }, spec: { ports } });
  await world.create("endpointslices.discovery.k8s.io", {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: "s-1", namespace: "n", labels: { "kubernetes.io/service-name": "s" } },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.1.1.1"] }],
    ports: [{ name: "web", port: 8443 }],
  });
}

function reason(): string | undefined {
  const found = world.get<APIService>("apiservices.apiregistration.k8s.io", "v1.g.io", "");
  return found && availableCondition(found)?.reason;
}

test("a group version becomes available with its service and the endpoints", async () => {
  await createApiService({ namespace: "n", name: "s" });
  await world.pass();
  expect(reason()).toBe("ServiceNotFound");
  await createService();
  await world.pass();
  expect(reason()).toBe("Passed");
  await world.delete("endpointslices.discovery.k8s.io", "s-1");
  expect(reason()).toBe("EndpointsNotFound");
});

test("a failed request is repeated soon, and then less and less often", async () => {
  code = 500;
  await createService();
  await createApiService({ namespace: "n", name: "s" });
  await world.pass();
  expect(reason()).toBe("FailedDiscoveryCheck");
  // The condition itself is a change, so the second check follows at once.
  const before = requests;
  for (const waitMs of [10, 20, 40]) await world.pass(waitMs);
  expect(requests).toBe(before + 3 * 5);
  code = 200;
  await world.pass(80);
  expect(reason()).toBe("Passed");
  expect(world.errors).toEqual([]);
});

test("a group version that this server serves is available without a request", async () => {
  await createApiService(undefined);
  await world.pass();
  expect(reason()).toBe("Local");
  expect(requests).toBe(0);
});
