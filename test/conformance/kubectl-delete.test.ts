import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { RunningServer } from "../../src/index.ts";
import { startServer } from "../etcd/start-server.ts";
import { until } from "../until.ts";
import { Kubectl, quietControllers } from "./kubectl.ts";

let server: RunningServer;
let kubectl: Kubectl;

beforeAll(async () => {
  server = await startServer({ controllers: quietControllers });
  kubectl = await Kubectl.open(server.kubeconfig);
});

afterAll(async () => {
  await kubectl[Symbol.asyncDispose]();
  await server.close({ graceMs: 0 });
});

async function createConfigMap(name: string): Promise<void> {
  await kubectl.ok(["create", "configmap", name, "--from-literal=a=1"]);
}

describe("delete", () => {
  test("in the background removes the object at once", async () => {
    await createConfigMap("background");
    await kubectl.ok(["delete", "configmap", "background", "--cascade=background"]);
    expect(await kubectl.refused(["get", "configmap", "background"])).toBe(
      'Error from server (NotFound): configmaps "background" not found',
    );
  });

  test.each([
    ["foreground", "foregroundDeletion"],
    ["orphan", "orphan"],
  ])(
    "--cascade=%s leaves the finalizer %s, which removes the object when it is removed",
    async (cascade, finalizer) => {
      await createConfigMap(cascade);
      await kubectl.ok(["delete", "configmap", cascade, `--cascade=${cascade}`, "--wait=false"]);
      const { metadata } = await kubectl.get(["configmap", cascade]);
      expect(metadata).toMatchObject({ finalizers: [finalizer], deletionGracePeriodSeconds: 0 });
      expect(Date.parse(metadata.deletionTimestamp)).not.toBeNaN();

      const remove = '[{"op":"remove","path":"/metadata/finalizers"}]';
      await kubectl.ok(["patch", "configmap", cascade, "--type=json", "-p", remove]);
      expect(await kubectl.refused(["get", "configmap", cascade])).toContain("(NotFound)");
    },
  );

  test("waits until the last finalizer is gone", async () => {
    await createConfigMap("held");
    const patch = (finalizers: string[] | null) => [
      "patch",
      "configmap",
      "held",
      "--type=merge",
      "-p",
      JSON.stringify({ metadata: { finalizers } }),
    ];
    await kubectl.ok(patch(["example.com/hold"]));
    const deletion = kubectl.ok(["delete", "configmap", "held"]);
    await kubectl.ok(["wait", "configmap", "held", "--for=jsonpath={.metadata.deletionTimestamp}", "--timeout=60s"]);
    await kubectl.ok(patch(null));
    expect(await deletion).toStartWith('configmap "held" deleted');
  });

  test("a pod on a node is given its grace period, and --force takes it away", async () => {
    const spec = {
      nodeName: "node-a",
      terminationGracePeriodSeconds: 25,
      containers: [{ name: "main", image: "web" }],
    };
    await kubectl.apply({ apiVersion: "v1", kind: "Pod", metadata: { name: "graceful" }, spec });
    await kubectl.ok(["delete", "pod", "graceful", "--wait=false"]);
    expect((await kubectl.get(["pod", "graceful"])).metadata.deletionGracePeriodSeconds).toBe(25);
    expect(await kubectl.ok(["get", "pod", "graceful", "--no-headers"])).toContain("Terminating");
    await kubectl.ok(["delete", "pod", "graceful", "--grace-period=0", "--force"]);
    expect(await kubectl.refused(["get", "pod", "graceful"])).toContain("(NotFound)");
  });

  test("by label and --all", async () => {
    for (const name of ["red-1", "red-2", "blue"]) await createConfigMap(name);
    await kubectl.ok(["label", "configmap", "red-1", "red-2", "color=red"]);
    await kubectl.ok(["delete", "configmaps", "-l", "color=red"]);
    expect(await kubectl.ok(["get", "configmaps", "-o", "name"])).toBe("configmap/blue\n");
    await kubectl.ok(["delete", "configmaps", "--all"]);
    expect(await kubectl.ok(["get", "configmaps", "-o", "name"])).toBe("");
  });

  test("--ignore-not-found", async () => {
    expect(await kubectl.refused(["delete", "configmap", "missing"])).toContain("(NotFound)");
    expect(await kubectl.ok(["delete", "configmap", "missing", "--ignore-not-found"])).toBe("");
  });

  test("--dry-run=server keeps the object", async () => {
    await createConfigMap("kept");
    expect(await kubectl.ok(["delete", "configmap", "kept", "--dry-run=server"])).toContain("(server dry run)");
    expect(await kubectl.ok(["get", "configmap", "kept", "-o", "name"])).toBe("configmap/kept\n");
  });
});

describe("wait", () => {
  /** Waits until a client watches objects of a resource. */
  async function untilWatched(resource: string): Promise<void> {
    const isOpen = (line: string) =>
      line.startsWith("apiserver_longrunning_requests{") &&
      line.includes(`resource="${resource}"`) &&
      !line.endsWith(" 0");
    await until(async () => (await kubectl.ok(["get", "--raw", "/metrics"])).split("\n").some(isOpen));
  }

  test("--for=delete ends when the object is removed", async () => {
    await createConfigMap("leaving");
    const waiting = kubectl.ok(["wait", "configmap", "leaving", "--for=delete", "--timeout=60s"]);
    await untilWatched("configmaps");
    await kubectl.ok(["delete", "configmap", "leaving"]);
    expect(await waiting).toBe("configmap/leaving condition met\n");
  });

  test("--for=jsonpath ends when the value comes", async () => {
    await createConfigMap("growing");
    const waiting = kubectl.ok(["wait", "configmap", "growing", "--for=jsonpath={.data.b}=2", "--timeout=60s"]);
    await untilWatched("configmaps");
    await kubectl.ok(["patch", "configmap", "growing", "-p", '{"data":{"b":"2"}}']);
    expect(await waiting).toBe("configmap/growing condition met\n");
  });

  test("--for=condition ends when the condition holds, at once if it already does", async () => {
    const spec = { containers: [{ name: "main", image: "web" }] };
    await kubectl.apply({ apiVersion: "v1", kind: "Pod", metadata: { name: "becoming" }, spec });
    const wait = ["wait", "pod", "becoming", "--for=condition=Ready", "--timeout=60s"];
    const waiting = kubectl.ok(wait);
    await untilWatched("pods");
    const status = { conditions: [{ type: "Ready", status: "True" }] };
    await kubectl.ok(["patch", "pod", "becoming", "--subresource=status", "-p", JSON.stringify({ status })]);
    expect(await waiting).toBe("pod/becoming condition met\n");
    expect(await kubectl.ok(wait)).toBe("pod/becoming condition met\n");
  });

  test("--for=create ends when the object comes", async () => {
    const waiting = kubectl.ok(["wait", "configmap", "coming", "--for=create", "--timeout=60s"]);
    await createConfigMap("coming");
    expect(await waiting).toBe("configmap/coming condition met\n");
  });

  test("gives up after its timeout", async () => {
    await createConfigMap("still");
    const wait = ["wait", "configmap", "still", "--for=delete", "--timeout=1s"];
    expect(await kubectl.refused(wait)).toEndWith("error: timed out waiting for the condition on configmaps/still");
  });
});

describe("namespaces", () => {
  test("deletion empties the namespace, then removes it", async () => {
    await kubectl.ok(["create", "namespace", "team"]);
    await kubectl.ok(["create", "configmap", "settings", "-n", "team"]);
    await kubectl.ok(["create", "secret", "generic", "login", "-n", "team"]);
    await kubectl.ok(["run", "web", "--image=web", "-n", "team"]);
    expect(await kubectl.ok(["delete", "namespace", "team"])).toStartWith('namespace "team" deleted');
    expect(await kubectl.refused(["get", "namespace", "team"])).toContain("(NotFound)");
    expect(await kubectl.ok(["get", "configmaps,secrets,pods", "-n", "team", "-o", "name"])).toBe("");
  });

  test("one that is being emptied takes nothing new", async () => {
    await kubectl.ok(["create", "namespace", "closing"]);
    const held = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "held", finalizers: ["example.com/hold"] } };
    await kubectl.apply(held, "-n", "closing");
    await kubectl.ok(["delete", "namespace", "closing", "--wait=false"]);
    expect(await kubectl.get(["namespace", "closing"])).toMatchObject({ status: { phase: "Terminating" } });
    expect(await kubectl.refused(["create", "configmap", "late", "-n", "closing"])).toBe(
      'error: failed to create configmap: configmaps "late" is forbidden: unable to create new content in namespace ' +
        "closing because it is being terminated",
    );
    const release = ["patch", "configmap", "held", "-n", "closing", "--type=merge", "-p"];
    await kubectl.ok([...release, '{"metadata":{"finalizers":null}}']);
    await kubectl.ok(["wait", "namespace", "closing", "--for=delete", "--timeout=60s"]);
  });

  test.each(["default", "kube-system", "kube-public"])("%s may not be deleted", async (name) => {
    expect(await kubectl.refused(["delete", "namespace", name])).toBe(
      `Error from server (Forbidden): namespaces "${name}" is forbidden: this namespace may not be deleted`,
    );
  });
});
