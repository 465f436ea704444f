import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type RunningServer } from "../../src/index.ts";
import { startServer } from "../etcd/start-server.ts";
import { Kubectl, quietControllers } from "./kubectl.ts";

let server: RunningServer;
let kubectl: Kubectl;

const pods = [
  { name: "api-0", labels: { app: "api", tier: "back" }, image: "registry.example/api:2", nodeName: "node-a" },
  { name: "web-0", labels: { app: "web", tier: "front" }, image: "registry.example/web:1", nodeName: "node-b" },
  { name: "web-1", labels: { app: "web", tier: "front" }, image: "registry.example/web:1" },
];

beforeAll(async () => {
  server = await startServer({ controllers: quietControllers });
  kubectl = await Kubectl.open(server.kubeconfig);
  const items = pods.map(({ name, labels, image, nodeName }) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels },
    spec: { containers: [{ name: "main", image }], ...(nodeName === undefined ? {} : { nodeName }) },
  }));
  await kubectl.apply({ apiVersion: "v1", kind: "List", items });
});

afterAll(async () => {
  await kubectl[Symbol.asyncDispose]();
  await server.close({ graceMs: 0 });
});

/** Returns the cells of a printed table. Columns are at least three spaces apart. */
function rows(printed: string): string[][] {
  return printed
    .trimEnd()
    .split("\n")
    .map((line) => line.trimEnd().split(/ {3,}/));
}

function withoutAge(cells: readonly string[]): string[] {
  return cells.filter((cell) => !/^[0-9]+[smh]$/.test(cell));
}

describe("tables", () => {
  test("a list of pods has the columns of pods", async () => {
    const [head, ...body] = rows(await kubectl.ok(["get", "pods"]));
    expect(head).toEqual(["NAME", "READY", "STATUS", "RESTARTS", "AGE"]);
    expect(body.map(withoutAge)).toEqual(pods.map(({ name }) => [name, "0/1", "Pending", "0"]));
  });

  test("one pod is a table of one row", async () => {
    const printed = rows(await kubectl.ok(["get", "pod", "web-0"]));
    expect(printed).toHaveLength(2);
    expect(printed[1]?.[0]).toBe("web-0");
  });

  test("-o wide adds the columns of lower priority", async () => {
    const [head, first] = rows(await kubectl.ok(["get", "pods", "-o", "wide"]));
    expect(head?.slice(5)).toEqual(["IP", "NODE", "NOMINATED NODE", "READINESS GATES"]);
    expect(first?.slice(5)).toEqual(["<none>", "node-a", "<none>", "<none>"]);
  });

  test("--show-labels adds the labels of each object", async () => {
    const [head, first] = rows(await kubectl.ok(["get", "pods", "--show-labels"]));
    expect(head?.at(-1)).toBe("LABELS");
    expect(first?.at(-1)).toBe("app=api,tier=back");
  });

  test("-L adds a column for one label", async () => {
    const [head, first] = rows(await kubectl.ok(["get", "pods", "-L", "tier"]));
    expect([head?.at(-1), first?.at(-1)]).toEqual(["TIER", "back"]);
  });

  test("-A adds the namespace", async () => {
    const [head, first] = rows(await kubectl.ok(["get", "pods", "-A"]));
    expect([head?.[0], first?.[0]]).toEqual(["NAMESPACE", "default"]);
  });

  test("an empty list is said to be empty", async () => {
    const { stdout, stderr } = await kubectl.run(["get", "secrets"]);
    expect([stdout, stderr.trim()]).toEqual(["", "No resources found in default namespace."]);
  });

  test.each(["configmaps", "events", "namespaces", "nodes", "secrets", "serviceaccounts", "leases"])(
    "%s can be listed in every namespace",
    async (resource) => {
      const { code } = await kubectl.run(["get", resource, "-A", "-o", "wide"]);
      expect(code).toBe(0);
    },
  );

  test("get all lists the kinds of the category", async () => {
    const printed = await kubectl.ok(["get", "all"]);
    for (const { name } of pods) expect(printed).toContain(`pod/${name} `);
    expect(printed).toMatch(/^service\/kubernetes +ClusterIP +10\.96\.0\.1 +<none> +443\/TCP /m);
  });

  test("describe prints an object with its events", async () => {
    const printed = await kubectl.ok(["describe", "pod", "web-0"]);
    expect(printed).toMatch(/^Name: +web-0$/m);
    expect(printed).toMatch(/^Events: +<none>$/m);
  });
});

describe("other outputs", () => {
  test("-o json of one object is the object", async () => {
    expect(await kubectl.get(["pod", "web-0"])).toMatchObject({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "web-0", namespace: "default", labels: { app: "web" } },
      spec: { containers: [{ name: "main", image: "registry.example/web:1", imagePullPolicy: "IfNotPresent" }] },
      status: { phase: "Pending", qosClass: "BestEffort" },
    });
  });

  test("-o json of several is a List", async () => {
    const list = await kubectl.get(["pods"]);
    expect([list.kind, list.items.length]).toEqual(["List", 3]);
  });

  test("-o yaml of one object reads back as the same object", async () => {
    const text = await kubectl.ok(["get", "pod", "web-0", "-o", "yaml"]);
    expect(Bun.YAML.parse(text)).toEqual(await kubectl.get(["pod", "web-0"]));
  });

  test.each([
    ["name", ["-o", "name"], "pod/api-0\npod/web-0\npod/web-1\n"],
    ["a JSON path", ["-o", "jsonpath={.items[*].metadata.name}"], "api-0 web-0 web-1"],
    ["a JSON path with a filter", ["-o", 'jsonpath={.items[?(@.metadata.name=="web-0")].spec.nodeName}'], "node-b"],
    ["a template", ["-o", "go-template={{range .items}}{{.metadata.name}};{{end}}"], "api-0;web-0;web-1;"],
    [
      "custom columns",
      ["-o", "custom-columns=POD:.metadata.name,NODE:.spec.nodeName"],
      "POD     NODE\napi-0   node-a\nweb-0   node-b\nweb-1   <none>\n",
    ],
  ])("-o %s", async (_what, args, printed) => {
    expect(await kubectl.ok(["get", "pods", ...args])).toBe(printed);
  });
});

describe("selection and order", () => {
  test.each([
    [["-l", "app=web"], "web-0 web-1"],
    [["-l", "app in (api,other),tier"], "api-0"],
    [["-l", "app!=web"], "api-0"],
    [["-l", "!app"], ""],
    [["--field-selector", "spec.nodeName=node-b"], "web-0"],
    [["--field-selector", "metadata.name!=web-0,status.phase=Pending"], "api-0 web-1"],
    [["-l", "app=web", "--field-selector", "metadata.name=web-1"], "web-1"],
    [["--chunk-size", "1"], "api-0 web-0 web-1"],
    [["--sort-by", "{.spec.nodeName}"], "web-1 api-0 web-0"],
  ])("%p gives %p", async (args, names) => {
    expect(await kubectl.ok(["get", "pods", ...args, "-o", "jsonpath={.items[*].metadata.name}"])).toBe(names);
  });

  test("--sort-by orders a table", async () => {
    const [, ...body] = rows(await kubectl.ok(["get", "pods", "--sort-by", ".spec.nodeName"]));
    expect(body.map(([name]) => name)).toEqual(["web-1", "api-0", "web-0"]);
  });

  test("a field that is not selectable is refused", async () => {
    expect(await kubectl.refused(["get", "pods", "--field-selector", "spec.schedulerName2=x"])).toBe(
      'Error from server (BadRequest): Unable to find "/v1, Resource=pods" that match label selector "", ' +
        'field selector "spec.schedulerName2=x": field label not supported: spec.schedulerName2',
    );
  });
});

describe("get --watch", () => {
  test("a list prints the existing objects, then each change", async () => {
    await using watch = kubectl.start(["get", "configmaps", "-w", "-o", "name"]);
    await kubectl.ok(["create", "configmap", "watched", "--from-literal=a=1"]);
    await watch.until((printed) => printed === "configmap/watched\n");
    await kubectl.ok(["label", "configmap", "watched", "seen=yes"]);
    await watch.until((printed) => printed === "configmap/watched\n".repeat(2));
    await kubectl.ok(["delete", "configmap", "watched"]);
    await watch.until((printed) => printed === "configmap/watched\n".repeat(3));
  });

  test("a table prints its head once", async () => {
    await using watch = kubectl.start(["get", "pods", "-w", "-l", "app=api"]);
    await watch.until((printed) => printed.includes("api-0"));
    await kubectl.ok(["annotate", "pod", "api-0", "touched=yes"]);
    const printed = await watch.until((text) => text.split("api-0").length === 3);
    expect(printed.split("NAME")).toHaveLength(2);
  });

  test("one object by name prints its state, then each change, with the type of event", async () => {
    await kubectl.ok(["create", "configmap", "single", "--from-literal=a=1"]);
    const columns = "custom-columns=T:.type,N:.object.metadata.name";
    await using watch = kubectl.start(["get", "configmap", "single", "-w", "--output-watch-events", "-o", columns]);
    await watch.until((printed) => /ADDED +single/.test(printed));
    await kubectl.ok(["label", "configmap", "single", "seen=yes"]);
    await watch.until((printed) => /MODIFIED +single/.test(printed));
    await kubectl.ok(["delete", "configmap", "single"]);
    await watch.until((printed) => /DELETED +single/.test(printed));
  });
});
