import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type RunningServer } from "../../src/index.ts";
import { startServer } from "../etcd/start-server.ts";
import { until } from "../until.ts";
import { Kubectl } from "./kubectl.ts";

let server: RunningServer;
let kubectl: Kubectl;

beforeAll(async () => {
  server = await startServer({});
  kubectl = await Kubectl.open(server.kubeconfig);
});

afterAll(async () => {
  await kubectl[Symbol.asyncDispose]();
  await server.close({ graceMs: 0 });
});

interface Owner {
  readonly name: string;
  readonly uid: string;
  readonly blocks?: boolean;
  readonly kind?: string;
  readonly apiVersion?: string;
}

/** Creates a ConfigMap, and returns the owner reference for its dependents. */
async function create(name: string, owners: readonly Owner[] = [], more: object = {}): Promise<Owner> {
  const ownerReferences = owners.map(({ blocks, ...owner }) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    ...owner,
    ...(blocks === true ? { blockOwnerDeletion: true } : {}),
  }));
  await kubectl.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, ownerReferences, ...more } });
  const { metadata } = await kubectl.get(["configmap", name]);
  return { name, uid: metadata.uid };
}

const gone = (name: string) => kubectl.ok(["wait", "configmap", name, "--for=delete", "--timeout=10s"]);
const release = (name: string) =>
  kubectl.ok(["patch", "configmap", name, "--type=merge", "-p", '{"metadata":{"finalizers":null}}']);
const remove = (name: string, cascade: string, ...more: string[]) =>
  kubectl.ok(["delete", "configmap", name, `--cascade=${cascade}`, ...more]);
const ownersOf = async (name: string) => (await kubectl.get(["configmap", name])).metadata.ownerReferences;

describe("kubectl delete", () => {
  test("--cascade=background removes the owner, then its dependents and theirs", async () => {
    const owner = await create("b");
    const child = await create("b-child", [owner]);
    await create("b-grandchild", [child]);
    await remove("b", "background");
    await gone("b-child");
    await gone("b-grandchild");
  });

  test("--cascade=foreground removes the owner after the dependents that block it", async () => {
    const owner = await create("f");
    await create("f-child", [{ ...owner, blocks: true }], { finalizers: ["example.com/hold"] });
    await create("f-free", [owner]);
    await remove("f", "foreground", "--wait=false");
    await gone("f-free");
    await kubectl.ok(["wait", "configmap", "f-child", "--for=jsonpath={.metadata.deletionTimestamp}", "--timeout=10s"]);
    expect((await kubectl.get(["configmap", "f"])).metadata.finalizers).toEqual(["foregroundDeletion"]);
    await release("f-child");
    await gone("f");
  });

  test("--cascade=orphan removes the owner and leaves its dependents without it", async () => {
    const owner = await create("o");
    const other = await create("o-other");
    await create("o-child", [owner, other]);
    await create("o-alone", [owner]);
    await remove("o", "orphan");
    expect(await ownersOf("o-alone")).toBeUndefined();
    expect(await ownersOf("o-child")).toMatchObject([{ name: "o-other" }]);
  });

  test("--cascade=foreground removes objects that own each other", async () => {
    const first = await create("c-1");
    const second = await create("c-2", [{ ...first, blocks: true }]);
    const ownerReferences = [
      { apiVersion: "v1", kind: "ConfigMap", name: second.name, uid: second.uid, blockOwnerDeletion: true },
    ];
    const patch = JSON.stringify({ metadata: { ownerReferences } });
    await kubectl.ok(["patch", "configmap", "c-1", "--type=merge", "-p", patch]);
    await remove("c-1", "foreground");
    await gone("c-2");
  });
});

describe("an object", () => {
  test("with another owner stays, and loses the reference to the one that is gone", async () => {
    const [first, second] = [await create("s-1"), await create("s-2")];
    await create("s-child", [first, second]);
    await remove("s-1", "background");
    const wait = ["wait", "configmap", "s-child", "--for=jsonpath={.metadata.ownerReferences[0].name}=s-2"];
    await kubectl.ok([...wait, "--timeout=10s"]);
    expect(await ownersOf("s-child")).toHaveLength(1);
  });

  test("that names the uid of an earlier owner goes", async () => {
    const earlier = await create("again");
    await remove("again", "background");
    await create("again");
    await create("late", [earlier]).catch(() => {});
    await gone("late");
    expect(await kubectl.ok(["get", "configmap", "again", "-o", "name"])).toBe("configmap/again\n");
  });

  test("with its owner in another namespace goes, and an Event says why", async () => {
    await kubectl.ok(["create", "namespace", "elsewhere"]);
    await kubectl.ok(["create", "configmap", "far", "-n", "elsewhere"]);
    const { uid } = (await kubectl.get(["configmap", "far", "-n", "elsewhere"])).metadata;
    await create("near", [{ name: "far", uid }]).catch(() => {});
    await gone("near");
    const about = ["get", "events", "--field-selector=reason=OwnerRefInvalidNamespace", "-o"];
    const read = () => kubectl.ok([...about, "jsonpath={.items[*].type} {.items[*].message}"]);
    expect(await until(read, (said) => said.trim() !== "")).toBe(
      `Warning ownerRef [v1/ConfigMap, namespace: default, name: far, uid: ${uid}] does not exist in namespace "default"`,
    );
  });

  test("with an owner of an unknown kind is kept until the kind comes", async () => {
    const owner = { apiVersion: "late.example.com/v1", kind: "Gadget", name: "g", uid: "1b4e28ba-2fa1-11d2-883f" };
    await create("patient", [owner]);
    await Bun.sleep(200);
    expect(await ownersOf("patient")).toHaveLength(1);
    await kubectl.apply({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "gadgets.late.example.com" },
      spec: {
        group: "late.example.com",
        scope: "Namespaced",
        names: { plural: "gadgets", kind: "Gadget" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    });
    await gone("patient");
    await kubectl.ok(["wait", "crd", "gadgets.late.example.com", "--for=condition=Established", "--timeout=10s"]);
    await kubectl.apply({ apiVersion: "late.example.com/v1", kind: "Gadget", metadata: { name: "g" } });
    const { uid } = (await kubectl.get(["gadget", "g"])).metadata;
    await create("follower", [{ ...owner, uid }]);
    await kubectl.ok(["delete", "gadget", "g"]);
    await gone("follower");
  });
});
