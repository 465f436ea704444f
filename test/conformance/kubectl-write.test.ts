import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createAuthority } from "../../src/access/certificates/authority.ts";
import { type RunningServer } from "../../src/index.ts";
import { startServer } from "../etcd/start-server.ts";
import { Kubectl } from "./kubectl.ts";

let server: RunningServer;
let kubectl: Kubectl;

beforeAll(async () => {
  server = await startServer();
  kubectl = await Kubectl.open(server.kubeconfig);
});

afterAll(async () => {
  await kubectl[Symbol.asyncDispose]();
  await server.close({ graceMs: 0 });
});

function configMap(name: string, data: Record<string, string>, labels?: Record<string, string>): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...(labels && { labels }) }, data };
}

function pod(name: string, image: string, more: object = {}): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: { containers: [{ name: "main", image, ...more }] },
  };
}

async function create(document: object): Promise<void> {
  await kubectl.ok(["create", "-f", "-"], { input: JSON.stringify(document) });
}

describe("apply", () => {
  test("creates, leaves unchanged objects alone, and changes the others", async () => {
    expect(await kubectl.apply(configMap("applied", { a: "1", b: "2" }))).toBe("configmap/applied created\n");
    const created = await kubectl.get(["configmap", "applied"]);

    expect(await kubectl.apply(configMap("applied", { a: "1", b: "2" }))).toBe("configmap/applied unchanged\n");
    expect(await kubectl.get(["configmap", "applied"])).toEqual(created);

    expect(await kubectl.apply(configMap("applied", { a: "3" }))).toBe("configmap/applied configured\n");
    const changed = await kubectl.get(["configmap", "applied"]);
    expect(changed.data).toEqual({ a: "3" });
    expect(changed.metadata.uid).toBe(created.metadata.uid);
    expect(changed.metadata.resourceVersion).not.toBe(created.metadata.resourceVersion);
  });

  test("keeps additions by other clients", async () => {
    await kubectl.apply(configMap("shared", { mine: "1" }));
    await kubectl.ok(["patch", "configmap", "shared", "-p", '{"data":{"theirs":"2"}}']);
    await kubectl.apply(configMap("shared", { mine: "3" }));
    expect((await kubectl.get(["configmap", "shared"])).data).toEqual({ mine: "3", theirs: "2" });
  });

  test("merges the containers of a pod by name", async () => {
    await kubectl.apply(pod("merged", "registry.example/web:1"));
    expect(await kubectl.apply(pod("merged", "registry.example/web:2"))).toBe("pod/merged configured\n");
    const { spec } = await kubectl.get(["pod", "merged"]);
    expect(spec.containers).toMatchObject([
      { name: "main", image: "registry.example/web:2", terminationMessagePath: "/dev/termination-log" },
    ]);
  });

  test("reads several YAML documents", async () => {
    const printed = await kubectl.apply(`apiVersion: v1
kind: Namespace
metadata:
  name: several
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: builder
  namespace: several
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata:
  name: leader
  namespace: several
spec:
  holderIdentity: builder
  leaseDurationSeconds: 15
`);
    expect(printed.trimEnd().split("\n")).toEqual([
      "namespace/several created",
      "serviceaccount/builder created",
      "lease.coordination.k8s.io/leader created",
    ]);
  });

  test("--dry-run=server changes nothing", async () => {
    const printed = await kubectl.apply(configMap("dry", { a: "1" }), "--dry-run=server");
    expect(printed).toBe("configmap/dry created (server dry run)\n");
    expect(await kubectl.refused(["get", "configmap", "dry"])).toContain("(NotFound)");
  });
});

describe("diff", () => {
  test("shows the changes of an apply, and nothing without changes", async () => {
    await kubectl.apply(configMap("compared", { a: "1" }));
    const file = await kubectl.file("compared.json", JSON.stringify(configMap("compared", { a: "2" })));
    const { code, stdout } = await kubectl.run(["diff", "-f", file]);
    expect(code).toBe(1);
    expect(stdout.split("\n").filter((line) => /^[-+] /.test(line))).toEqual(['-  a: "1"', '+  a: "2"']);
    await kubectl.ok(["apply", "-f", file]);
    expect(await kubectl.ok(["diff", "-f", file])).toBe("");
  });
});

describe("edit", () => {
  test("sends the editor's changes", async () => {
    await create(configMap("edited", { color: "red" }));
    const script = await kubectl.file("green.sed", "s/color: red/color: green/\n");
    const printed = await kubectl.ok(["edit", "configmap", "edited"], { env: { KUBE_EDITOR: `sed -i -f ${script}` } });
    expect(printed).toBe("configmap/edited edited\n");
    expect((await kubectl.get(["configmap", "edited"])).data).toEqual({ color: "green" });
  });

  test("sends nothing when the editor changes nothing", async () => {
    await create(configMap("opened", { color: "red" }));
    const { stderr } = await kubectl.run(["edit", "configmap", "opened"], { env: { KUBE_EDITOR: "true" } });
    expect(stderr).toContain("Edit cancelled, no changes made.");
  });
});

describe("patch", () => {
  test("strategic: lists with a merge key are merged by it", async () => {
    await create(pod("strategic", "registry.example/web:1"));
    const patch = { spec: { containers: [{ name: "main", image: "registry.example/web:2" }] } };
    await kubectl.ok(["patch", "pod", "strategic", "-p", JSON.stringify(patch)]);
    const { spec } = await kubectl.get(["pod", "strategic"]);
    expect(spec.containers).toHaveLength(1);
    expect(spec.containers[0]).toMatchObject({ image: "registry.example/web:2", imagePullPolicy: "IfNotPresent" });
  });

  test("merge: null removes a key", async () => {
    await create(configMap("merge", { a: "1", b: "2" }));
    const patch = { data: { a: null, c: "3" } };
    await kubectl.ok(["patch", "configmap", "merge", "--type=merge", "-p", JSON.stringify(patch)]);
    expect((await kubectl.get(["configmap", "merge"])).data).toEqual({ b: "2", c: "3" });
  });

  test("json: operations run in order, and a failed test refuses them all", async () => {
    await create(configMap("json", { a: "1" }));
    const patch = (operations: object[]) => [
      "patch",
      "configmap",
      "json",
      "--type=json",
      "-p",
      JSON.stringify(operations),
    ];
    await kubectl.ok(
      patch([
        { op: "test", path: "/data/a", value: "1" },
        { op: "move", from: "/data/a", path: "/data/b" },
      ]),
    );
    expect((await kubectl.get(["configmap", "json"])).data).toEqual({ b: "1" });
    const refused = patch([
      { op: "add", path: "/data/c", value: "1" },
      { op: "test", path: "/data/b", value: "2" },
    ]);
    expect(await kubectl.refused(refused)).toContain("the server rejected our request due to an error in our request");
    expect((await kubectl.get(["configmap", "json"])).data).toEqual({ b: "1" });
  });

  test("--subresource=status writes the status alone, and the object itself never writes it", async () => {
    await create(pod("phased", "registry.example/web:1"));
    const patch = JSON.stringify({ metadata: { labels: { seen: "yes" } }, status: { phase: "Running" } });
    await kubectl.ok(["patch", "pod", "phased", "--subresource=status", "-p", patch]);
    expect(await kubectl.get(["pod", "phased"])).toMatchObject({ status: { phase: "Running" } });
    await kubectl.ok(["patch", "pod", "phased", "-p", '{"status":{"phase":"Failed"}}']);
    expect(await kubectl.get(["pod", "phased", "--subresource=status"])).toMatchObject({
      status: { phase: "Running" },
    });
  });

  test("says when it changed nothing", async () => {
    await create(configMap("same", { a: "1" }));
    expect(await kubectl.ok(["patch", "configmap", "same", "-p", '{"data":{"a":"1"}}'])).toBe(
      "configmap/same patched (no change)\n",
    );
  });
});

describe("label and annotate", () => {
  test("add, refuse to overwrite, overwrite and remove", async () => {
    await create(configMap("marked", {}));
    const marks = async () => {
      const { metadata } = await kubectl.get(["configmap", "marked"]);
      return [metadata.labels, metadata.annotations];
    };
    await kubectl.ok(["label", "configmap", "marked", "tier=front"]);
    await kubectl.ok(["annotate", "configmap", "marked", "example.com/note=some text"]);
    expect(await marks()).toEqual([{ tier: "front" }, { "example.com/note": "some text" }]);
    expect(await kubectl.refused(["label", "configmap", "marked", "tier=back"])).toContain("--overwrite is false");
    await kubectl.ok(["label", "configmap", "marked", "tier=back", "--overwrite"]);
    await kubectl.ok(["annotate", "configmap", "marked", "example.com/note-"]);
    expect((await marks())[0]).toEqual({ tier: "back" });
    expect((await marks())[1] ?? {}).toEqual({});
  });

  test("select with -l", async () => {
    await create(configMap("chosen-1", {}, { set: "chosen" }));
    await create(configMap("chosen-2", {}, { set: "chosen" }));
    await kubectl.ok(["label", "configmaps", "-l", "set=chosen", "done=yes"]);
    const names = await kubectl.ok(["get", "configmaps", "-l", "done=yes", "-o", "name"]);
    expect(names).toBe("configmap/chosen-1\nconfigmap/chosen-2\n");
  });
});

describe("replace", () => {
  test("takes the place of the object, which keeps its uid", async () => {
    await create(configMap("replaced", { a: "1", b: "2" }));
    const before = await kubectl.get(["configmap", "replaced"]);
    const input = JSON.stringify(configMap("replaced", { c: "3" }));
    expect(await kubectl.ok(["replace", "-f", "-"], { input })).toBe("configmap/replaced replaced\n");
    const after = await kubectl.get(["configmap", "replaced"]);
    expect(after.data).toEqual({ c: "3" });
    expect(after.metadata.uid).toBe(before.metadata.uid);
  });

  test("of an outdated version is a conflict", async () => {
    await create(configMap("raced", { a: "1" }));
    const stale = await kubectl.get(["configmap", "raced"]);
    await kubectl.ok(["label", "configmap", "raced", "winner=yes"]);
    expect(await kubectl.refused(["replace", "-f", "-"], { input: JSON.stringify(stale) })).toBe(
      'Error from server (Conflict): error when replacing "STDIN": Operation cannot be fulfilled on configmaps ' +
        '"raced": the object has been modified; please apply your changes to the latest version and try again',
    );
  });

  test("--force deletes and creates", async () => {
    await create(configMap("forced", { a: "1" }));
    const before = await kubectl.get(["configmap", "forced"]);
    await kubectl.ok(["replace", "--force", "-f", "-"], { input: JSON.stringify(configMap("forced", { a: "2" })) });
    const after = await kubectl.get(["configmap", "forced"]);
    expect(after.data).toEqual({ a: "2" });
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
  });
});

describe("create from generators", () => {
  test("configmap from literals and files, text and bytes", async () => {
    const text = await kubectl.file("greeting.txt", "hello\n");
    await Bun.write(`${text}.bin`, new Uint8Array([0xff, 0x00, 0x80]));
    const sources = ["--from-literal=a=1", `--from-file=${text}`, `--from-file=raw=${text}.bin`];
    await kubectl.ok(["create", "configmap", "generated", ...sources]);
    expect(await kubectl.get(["configmap", "generated"])).toMatchObject({
      data: { a: "1", "greeting.txt": "hello\n" },
      binaryData: { raw: "/wCA" },
    });
  });

  test("secret generic", async () => {
    await kubectl.ok(["create", "secret", "generic", "login", "--from-literal=user=ada"]);
    expect(await kubectl.get(["secret", "login"])).toMatchObject({ type: "Opaque", data: { user: "YWRh" } });
  });

  test("secret tls", async () => {
    const { certificate, key } = await createAuthority({
      commonName: "example",
      notBeforeMs: Date.now(),
      notAfterMs: Date.now() + 60_000,
    });
    const paths = [await kubectl.file("tls.crt", certificate), await kubectl.file("tls.key", key)];
    await kubectl.ok(["create", "secret", "tls", "pair", `--cert=${paths[0]}`, `--key=${paths[1]}`]);
    const { type, data } = await kubectl.get(["secret", "pair"]);
    expect([type, atob(data["tls.crt"]), atob(data["tls.key"])]).toEqual(["kubernetes.io/tls", certificate, key]);
  });

  test("secret docker-registry", async () => {
    const login = ["--docker-server=registry.example", "--docker-username=ada", "--docker-password=secret"];
    await kubectl.ok(["create", "secret", "docker-registry", "pull", ...login]);
    expect(await kubectl.get(["secret", "pull"])).toMatchObject({ type: "kubernetes.io/dockerconfigjson" });
  });

  test("serviceaccount and namespace", async () => {
    expect(await kubectl.ok(["create", "namespace", "generated"])).toBe("namespace/generated created\n");
    expect(await kubectl.ok(["create", "serviceaccount", "robot", "-n", "generated"])).toBe(
      "serviceaccount/robot created\n",
    );
    expect(await kubectl.get(["namespace", "generated"])).toMatchObject({
      metadata: { labels: { "kubernetes.io/metadata.name": "generated" } },
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active" },
    });
  });

  test("a pod by run", async () => {
    const args = ["--image=registry.example/web:1", "--env=COLOR=red", "--port=8080", "--labels=app=web"];
    expect(await kubectl.ok(["run", "ran", ...args, "--restart=Never", "--", "serve", "--fast"])).toBe(
      "pod/ran created\n",
    );
    expect(await kubectl.get(["pod", "ran"])).toMatchObject({
      metadata: { labels: { app: "web" } },
      spec: {
        restartPolicy: "Never",
        containers: [
          { args: ["serve", "--fast"], env: [{ name: "COLOR", value: "red" }], ports: [{ protocol: "TCP" }] },
        ],
      },
    });
  });

  test("generateName gives each object a different name", async () => {
    const document = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "many-" } });
    const made = [await kubectl.ok(["create", "-f", "-"], { input: document })];
    made.push(await kubectl.ok(["create", "-f", "-"], { input: document }));
    for (const line of made) expect(line).toMatch(/^configmap\/many-[a-z0-9]{5} created$/m);
    expect(made[0]).not.toBe(made[1]);
  });
});

test("set image changes the image of a container", async () => {
  await create(pod("imaged", "registry.example/web:1"));
  await kubectl.ok(["set", "image", "pod/imaged", "main=registry.example/web:2"]);
  expect((await kubectl.get(["pod", "imaged"])).spec.containers[0].image).toBe("registry.example/web:2");
});

test("taint, cordon and uncordon change a node", async () => {
  await create({ apiVersion: "v1", kind: "Node", metadata: { name: "node-a" } });
  await kubectl.ok(["taint", "node", "node-a", "dedicated=web:NoSchedule"]);
  await kubectl.ok(["cordon", "node-a"]);
  const { spec } = await kubectl.get(["node", "node-a"]);
  expect(spec).toMatchObject({ unschedulable: true });
  expect(spec.taints).toContainEqual({ key: "dedicated", value: "web", effect: "NoSchedule" });
  await kubectl.ok(["uncordon", "node-a"]);
  expect((await kubectl.get(["node", "node-a"])).spec.unschedulable).toBeUndefined();
});

test("the manager of each field is the command that set it", async () => {
  await create(configMap("managed", { a: "1" }));
  await kubectl.ok(["label", "configmap", "managed", "tier=front"]);
  const { metadata } = await kubectl.get(["configmap", "managed", "--show-managed-fields"]);
  expect(metadata.managedFields).toMatchObject([
    { manager: "kubectl-create", operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1" },
    { manager: "kubectl-label", operation: "Update", fieldsV1: { "f:metadata": { "f:labels": { "f:tier": {} } } } },
  ]);
});
