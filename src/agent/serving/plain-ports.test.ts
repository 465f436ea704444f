import { beforeAll, expect, test } from "bun:test";
import { openEndpoint } from "./endpoint.ts";
import type { EndpointOptions } from "./endpoint-options.ts";
import {
  endpointOptions,
  runningPod,
  ScriptedDirectory,
  scriptedRuntime,
  type TestCertificates,
  testCertificates,
} from "./testing.ts";

const directory = new ScriptedDirectory();
directory.add(runningPod(scriptedRuntime(), "web"));

let certificates: TestCertificates;
beforeAll(async () => {
  certificates = await testCertificates();
});

/** Asks for each path of one of the ports. */
async function asking(
  which: "health" | "readOnly",
  paths: readonly string[],
  more: Partial<EndpointOptions> = {},
): Promise<[path: string, code: number, text: string][]> {
  const address = { host: "127.0.0.1", port: 0 };
  const addresses = { healthAddress: address, readOnlyAddress: address };
  const endpoint = await openEndpoint(endpointOptions(directory, certificates.tls, { ...addresses, ...more }));
  const port = which === "health" ? endpoint.healthPort : endpoint.readOnlyPort;
  const answers = paths.map(async (path): Promise<[string, number, string]> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return [path, response.status, await response.text()];
  });
  const all = await Promise.all(answers);
  await endpoint.close(0);
  return all;
}

test("the health port has nothing but health", async () => {
  expect(await asking("health", ["/healthz", "/healthz/ping", "/healthz/other", "/pods"])).toEqual([
    ["/healthz", 200, "ok"],
    ["/healthz/ping", 200, "ok"],
    ["/healthz/other", 404, "404 page not found\n"],
    ["/pods", 404, "404: Page Not Found"],
  ]);
});

test("a check that fails makes the agent unhealthy, and is named without its reason", async () => {
  const check = () => {
    throw new Error("no sync for 3 minutes");
  };
  const checks = [{ name: "syncloop", check }];
  expect(
    await asking("health", ["/healthz", "/healthz?verbose&exclude=syncloop&exclude=x", "/healthz/syncloop"], {
      checks,
    }),
  ).toEqual([
    ["/healthz", 500, "[+]ping ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n"],
    [
      "/healthz?verbose&exclude=syncloop&exclude=x",
      200,
      '[+]ping ok\n[+]syncloop excluded: ok\nwarn: some health checks cannot be excluded: no matches for "x"\nhealthz check passed\n',
    ],
    ["/healthz/syncloop", 500, "internal server error: no sync for 3 minutes\n"],
  ]);
});

test("the read-only port has pods, statistics and metrics, and refuses sessions", async () => {
  const answers = await asking("readOnly", [
    "/pods",
    "/stats/summary",
    "/metrics",
    "/metrics/cadvisor",
    "/containerLogs/default/web/main",
    "/exec/default/web/main",
    "/configz",
    "/checkpoint/default/web/main",
  ]);
  expect(answers.map(([path, code]) => [path, code])).toEqual([
    ["/pods", 200],
    ["/stats/summary", 200],
    ["/metrics", 200],
    ["/metrics/cadvisor", 200],
    ["/containerLogs/default/web/main", 405],
    ["/exec/default/web/main", 405],
    ["/configz", 404],
    ["/checkpoint/default/web/main", 404],
  ]);
  expect(JSON.parse(answers[1]?.[2] ?? "").node).toEqual({ nodeName: "n1" });
  expect(answers[2]?.[2]).toContain('kubelet_node_name{node="n1"} 1\n');
  expect(answers[2]?.[2]).toContain('kubelet_running_containers{container_state="running"} 2\n');
});
