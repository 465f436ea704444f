import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../../test/until.ts";
import type { Container, Node, Pod, Volume, VolumeMount } from "../../api/types/core-v1.ts";
import { systemClock } from "../../process/clock.ts";
import { PodFilesError } from "../pods/pod-files.ts";
import { MountTable } from "./mount-table.ts";
import { NodeFiles } from "./node-files.ts";
import { FakeServer } from "./testing.ts";

const canMount = await MountTable.isAllowed();
const isRoot = process.getuid?.() === 0;
const token = "header.payload.signature";
const node = { status: { allocatable: { cpu: "4", memory: "8Gi" } } } as unknown as Node;

let folder = "";
let server: FakeServer;
let files: NodeFiles;
let errors: unknown[] = [];

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "node-files-")));
  server = new FakeServer();
  errors = [];
  files = await NodeFiles.open({
    client: server,
    clock: systemClock,
    random: () => 0,
    rootDirectory: join(folder, "root"),
    node: () => node,
    hostIps: () => ["192.168.1.5"],
    onError: (error) => errors.push(error),
  });
});

afterEach(async () => {
  await files.remove("u-1");
  files[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

const main: Container = { name: "main" };

/** Returns a pod whose only container mounts its volumes below /v. */
function podWith(volumes: Volume[], changes: Partial<NonNullable<Pod["spec"]>> = {}): Pod {
  const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/v/${name}` }));
  return {
    kind: "Pod",
    apiVersion: "v1",
    metadata: { name: "web", namespace: "shop", uid: "u-1", labels: { app: "web" } },
    spec: { containers: [{ ...main, volumeMounts }], volumes, serviceAccountName: "robot", ...changes },
  };
}

function volumePath(kind: string, name: string): string {
  return join(folder, "root/pods/u-1/volumes", `kubernetes.io~${kind}`, name);
}

async function problemOf(promise: Promise<unknown>): Promise<PodFilesError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof PodFilesError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

function setConfigMap(data: Record<string, string>, changes: object = {}): void {
  server.set("configmaps", { metadata: { namespace: "shop", name: "config" }, data, ...changes });
}

function setSecret(data: Record<string, string>): void {
  const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")]);
  server.set("secrets", { metadata: { namespace: "shop", name: "keys" }, data: Object.fromEntries(encoded) });
}

function issueTokens(): { audiences: unknown[] } {
  const seen: { audiences: unknown[] } = { audiences: [] };
  server.issue = async ({ namespace, name, subresource }, { spec }) => {
    const { audiences, boundObjectRef, expirationSeconds } = spec as Record<string, unknown>;
    expect([namespace, name, subresource]).toEqual(["shop", "robot", "token"]);
    expect(boundObjectRef).toEqual({ kind: "Pod", apiVersion: "v1", name: "web", uid: "u-1" });
    seen.audiences.push(audiences);
    const expirationTimestamp = new Date(Date.now() + Number(expirationSeconds) * 1_000).toISOString();
    return { spec: { expirationSeconds: Number(expirationSeconds) }, status: { token, expirationTimestamp } };
  };
  return seen;
}

describe("a configMap volume", () => {
  test("has a file per key, and follows the object", async () => {
    setConfigMap({ key: "one" }, { binaryData: { bytes: Buffer.from([0, 255]).toString("base64") } });
    const pod = podWith([{ name: "c", configMap: { name: "config", defaultMode: 0o440 } }]);
    await files.prepare(pod);
    const path = volumePath("configmap", "c");
    expect(readFileSync(join(path, "key"), "utf8")).toBe("one");
    expect([...readFileSync(join(path, "bytes"))]).toEqual([0, 255]);
    expect(statSync(join(path, "key")).mode & 0o777).toBe(0o440);
    setConfigMap({ key: "two" });
    await until(async () => {
      await files.prepare(pod);
      return readFileSync(join(path, "key"), "utf8") === "two";
    });
    expect(existsSync(join(path, "bytes"))).toBe(false);
  });

  test("has only the chosen keys, at their paths and with their modes", async () => {
    setConfigMap({ a: "1", b: "2" });
    const items = [{ key: "a", path: "deep/a.txt", mode: 0o600 }];
    await files.prepare(podWith([{ name: "c", configMap: { name: "config", items } }]));
    expect(readFileSync(join(volumePath("configmap", "c"), "deep/a.txt"), "utf8")).toBe("1");
    expect(statSync(join(volumePath("configmap", "c"), "deep/a.txt")).mode & 0o777).toBe(0o600);
    expect(existsSync(join(volumePath("configmap", "c"), "b"))).toBe(false);
  });

  test.each([
    [{ name: "none" }, 'configmap "none" not found'],
    [{ name: "config", items: [{ key: "no", path: "x" }] }, "configmap references non-existent config key: no"],
    [{ name: "config", items: [{ key: "a", path: "../x" }] }, "invalid path: must not contain '..': ../x"],
  ])("fails for %j with kubelet's message", async (configMap, message) => {
    setConfigMap({ a: "1" });
    const problem = await problemOf(files.prepare(podWith([{ name: "c", configMap }])));
    expect(problem.reason).toBe("FailedMount");
    expect(problem.message).toBe(`MountVolume.SetUp failed for volume "c" : ${message}`);
  });

  test("is empty if the object is absent and optional, and filled when it appears", async () => {
    const pod = podWith([{ name: "c", configMap: { name: "config", optional: true } }]);
    await files.prepare(pod);
    setConfigMap({ key: "x" });
    await until(async () => {
      await files.prepare(pod);
      return existsSync(join(volumePath("configmap", "c"), "key"));
    });
  });

  test("that no container mounts is not made", async () => {
    const pod = podWith([{ name: "c", configMap: { name: "none" } }], { containers: [main] });
    await files.prepare(pod);
    expect(existsSync(volumePath("configmap", "c"))).toBe(false);
  });

  test("waits for an object that the server does not show", async () => {
    server.refusal = new Error("forbidden");
    const problem = await problemOf(files.prepare(podWith([{ name: "c", configMap: { name: "config" } }])));
    expect(problem.message).toContain("failed to sync configmap cache: timed out waiting for the condition");
    server.refusal = undefined;
    setConfigMap({ key: "x" });
    await files.prepare(podWith([{ name: "c", configMap: { name: "config" } }]));
  });
});

test("objects are watched one by one, and once", async () => {
  setConfigMap({ key: "one" });
  setSecret({ password: "hidden" });
  const pod = podWith([
    { name: "c", configMap: { name: "config" } },
    { name: "d", configMap: { name: "config" } },
    { name: "s", secret: { secretName: "keys" } },
  ]);
  await files.prepare(pod);
  await files.prepare(pod);
  expect(server.asked.sort()).toEqual([
    "list configmaps shop metadata.name=config",
    "list secrets shop metadata.name=keys",
  ]);
});

test("an immutable object is not watched", async () => {
  setConfigMap({ key: "one" }, { immutable: true });
  const pod = podWith([{ name: "c", configMap: { name: "config" } }]);
  await files.prepare(pod);
  await until(() => server.watches === 0);
  await files.prepare(pod);
  expect(server.asked).toHaveLength(1);
});

describe("secrets and tokens", () => {
  const projected: Volume = {
    name: "access",
    projected: {
      defaultMode: 0o644,
      sources: [
        { serviceAccountToken: { path: "token", expirationSeconds: 3607 } },
        { secret: { name: "keys", items: [{ key: "password", path: "p" }] } },
        { configMap: { name: "config" } },
        { downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] } },
      ],
    },
  };

  test("attack 87: are in a folder that only the agent's user can enter", async () => {
    setSecret({ password: "hidden" });
    await files.prepare(podWith([{ name: "s", secret: { secretName: "keys", defaultMode: 0o400 } }]));
    expect(readFileSync(join(volumePath("secret", "s"), "password"), "utf8")).toBe("hidden");
    expect(statSync(join(volumePath("secret", "s"), "password")).mode & 0o777).toBe(0o400);
    expect(statSync(join(folder, "root/pods")).mode & 0o777).toBe(0o700);
  });

  test("close the folder even if it existed before", async () => {
    chmodSync(join(folder, "root/pods"), 0o755);
    const parts = { client: server, clock: systemClock, random: () => 0, node: () => node, hostIps: () => [] };
    using _files = await NodeFiles.open({ ...parts, rootDirectory: join(folder, "root"), onError: () => {} });
    expect(statSync(join(folder, "root/pods")).mode & 0o777).toBe(0o700);
  });

  test("come together in a projected volume", async () => {
    const seen = issueTokens();
    setSecret({ password: "hidden" });
    setConfigMap({ "ca.crt": "CA" });
    await files.prepare(podWith([projected]));
    await files.prepare(podWith([projected]));
    const path = volumePath("projected", "access");
    const read = (name: string) => readFileSync(join(path, name), "utf8");
    expect([read("token"), read("p"), read("ca.crt"), read("labels")]).toEqual([token, "hidden", "CA", 'app="web"']);
    expect(seen.audiences).toEqual([null]);
    expect(statSync(join(path, "token")).mode & 0o777).toBe(0o644);
  });

  test("of a pod with one user are private", async () => {
    issueTokens();
    const volume = {
      name: "t",
      projected: { sources: [{ serviceAccountToken: { path: "token", audience: "vault" } }] },
    };
    await files.prepare(podWith([volume], { securityContext: { runAsUser: 4321, fsGroup: 1234 } }));
    const facts = statSync(join(volumePath("projected", "t"), "token"));
    if (isRoot) expect([facts.uid, facts.gid, facts.mode & 0o777]).toEqual([4321, 1234, 0o640]);
    else expect(facts.mode & 0o777).toBe(0o600);
  });

  test("attack 87: never appear in a message", async () => {
    issueTokens();
    setSecret({ password: "hidden-value" });
    const pod = podWith([
      projected,
      { name: "s", secret: { secretName: "keys", items: [{ key: "no", path: "x" }] } },
      { name: "x", secret: { secretName: "keys", items: [{ key: "password", path: "../x" }] } },
    ]);
    const messages = [(await problemOf(files.prepare(pod))).message];
    const env = [{ name: "X", valueFrom: { secretKeyRef: { name: "keys", key: "none" } } }];
    messages.push((await problemOf(files.environmentOf(pod, { ...main, env }, []))).message);
    const seen = JSON.stringify([messages, errors.map(String)]);
    expect(seen).not.toContain("hidden-value");
    expect(seen).not.toContain(Buffer.from("hidden-value").toString("base64"));
    expect(seen).not.toContain(token);
  });

  test("are reported together if several are absent", async () => {
    const problem = await problemOf(files.prepare(podWith([projected])));
    expect(problem.message).toBe(
      'MountVolume.SetUp failed for volume "access" : [failed to fetch token: no tokens, secret "keys" not found, configmap "config" not found]',
    );
  });
});

test("a trust bundle becomes a file, and podCertificate is refused", async () => {
  const certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
  const bundle = { spec: { signerName: "a.b/c", trustBundle: `${certificate}\n${certificate}\n` } };
  server.set("clustertrustbundles", { metadata: { name: "a.b:c:1", labels: { x: "y" } }, ...bundle });
  const sources = [
    { clusterTrustBundle: { name: "a.b:c:1", path: "named" } },
    { clusterTrustBundle: { signerName: "a.b/c", labelSelector: { matchLabels: { x: "y" } }, path: "signed" } },
    { clusterTrustBundle: { name: "none", optional: true, path: "empty" } },
  ];
  await files.prepare(podWith([{ name: "p", projected: { sources } }]));
  const read = (name: string) => readFileSync(join(volumePath("projected", "p"), name), "utf8");
  expect([read("named"), read("signed"), read("empty")]).toEqual([`${certificate}\n`, `${certificate}\n`, ""]);
  const unlabelled = { clusterTrustBundle: { signerName: "a.b/c", path: "x" } };
  const problem = await problemOf(files.prepare(podWith([{ name: "p", projected: { sources: [unlabelled] } }])));
  expect(problem.message).toContain("combination of signerName and labelSelector matched zero ClusterTrustBundles");
});

test("a downwardAPI volume has fields and resources", async () => {
  const items = [
    { path: "name", fieldRef: { fieldPath: "metadata.name" } },
    { path: "cpu", resourceFieldRef: { containerName: "main", resource: "limits.cpu" }, mode: 0o400 },
  ];
  await files.prepare(podWith([{ name: "d", downwardAPI: { items } }]));
  const path = volumePath("downward-api", "d");
  expect([readFileSync(join(path, "name"), "utf8"), readFileSync(join(path, "cpu"), "utf8")]).toEqual(["web", "4"]);
});

describe("an emptyDir", () => {
  test("is for everybody in the pod, and keeps its files", async () => {
    const pod = podWith([{ name: "e", emptyDir: {} }]);
    await files.prepare(pod);
    const path = volumePath("empty-dir", "e");
    expect(statSync(path).mode & 0o777).toBe(0o777);
    writeFileSync(join(path, "file"), "x");
    await files.prepare(pod);
    expect(readdirSync(path)).toEqual(["file"]);
  });

  test.if(isRoot)("belongs to the group of the pod", async () => {
    await files.prepare(podWith([{ name: "e", emptyDir: {} }], { securityContext: { fsGroup: 1234 } }));
    const facts = statSync(volumePath("empty-dir", "e"));
    expect([facts.gid, facts.mode & 0o7777]).toEqual([1234, 0o2777]);
  });

  test.if(canMount)("in memory is a file system of its own, with its limit, until the pod is removed", async () => {
    const pod = podWith([{ name: "e", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } }]);
    await files.prepare(pod);
    await files.prepare(pod);
    const path = volumePath("empty-dir", "e");
    const table = new MountTable();
    expect(await table.below(path)).toEqual([path]);
    expect(() => writeFileSync(join(path, "big"), Buffer.alloc(2 * 1024 * 1024))).toThrow("ENOSPC");
    await files.remove("u-1");
    expect(await table.below(path)).toEqual([]);
    expect(existsSync(path)).toBe(false);
  });
});

describe("a hostPath", () => {
  test.each([
    ["Directory", "is not a directory"],
    ["File", "is not a file"],
    ["Socket", "is not a socket file"],
    ["CharDevice", "is not a character device"],
    ["BlockDevice", "is not a block device"],
  ])("of type %s must be there", async (type, ending) => {
    const path = join(folder, "none");
    const problem = await problemOf(files.prepare(podWith([{ name: "h", hostPath: { path, type } }])));
    expect(problem.message).toBe(
      `MountVolume.SetUp failed for volume "h" : hostPath type check failed: ${path} ${ending}`,
    );
  });

  test("is made if its type says so, and is mounted as it is", async () => {
    const [directory, file] = [join(folder, "made/dir"), join(folder, "made-file")];
    const pod = podWith([
      { name: "d", hostPath: { path: directory, type: "DirectoryOrCreate" } },
      { name: "f", hostPath: { path: file, type: "FileOrCreate" } },
      { name: "any", hostPath: { path: "/dev/null", type: "CharDevice" } },
    ]);
    await files.prepare(pod);
    expect([statSync(directory).isDirectory(), statSync(file).isFile()]).toEqual([true, true]);
    const [container = main] = pod.spec?.containers ?? [];
    expect((await files.mountsOf(pod, container)).map(({ hostPath }) => hostPath)).toEqual([
      directory,
      file,
      "/dev/null",
    ]);
  });

  test("must not lead upwards", async () => {
    const problem = await problemOf(files.prepare(podWith([{ name: "h", hostPath: { path: "/a/../b" } }])));
    expect(problem.message).toContain("invalid HostPath `/a/../b`: must not contain '..'");
  });
});

test("a volume of another kind is refused", async () => {
  const problem = await problemOf(files.prepare(podWith([{ name: "n", nfs: { server: "s", path: "/" } }])));
  expect(problem.message).toContain("no volume plugin matched: this agent has no volumes of type nfs");
});

test("attack 86: a uid or name that would lead elsewhere is refused, and nothing is removed", async () => {
  const precious = join(folder, "root", "precious");
  writeFileSync(precious, "x");
  for (const uid of ["..", "../..", "a/b", "", "."]) {
    const pod = podWith([{ name: "e", emptyDir: {} }]);
    const hostile = { ...pod, metadata: { ...pod.metadata, uid } };
    expect((await problemOf(files.prepare(hostile))).message).toContain("cannot be the name of a folder");
    await expect(files.remove(uid)).rejects.toThrow("cannot be the name of a folder");
  }
  const hostile = podWith([{ name: "../../x", emptyDir: {} }]);
  expect((await problemOf(files.prepare(hostile))).message).toContain("cannot be the name of a folder");
  expect(existsSync(precious)).toBe(true);
});

describe("mountsOf()", () => {
  const volumes: Volume[] = [
    { name: "e", emptyDir: {} },
    { name: "c", configMap: { name: "config" } },
  ];

  async function mounts(volumeMounts: VolumeMount[], changes: Partial<Container> = {}, ips: string[] = []) {
    const container = { ...main, volumeMounts, ...changes };
    const pod = podWith(volumes, { containers: [container] });
    setConfigMap({ key: "value" });
    await files.prepare(pod);
    return await files.mountsOf(pod, container, ips);
  }

  test("makes volumes of objects read-only", async () => {
    const found = await mounts([
      { name: "e", mountPath: "/e" },
      { name: "e", mountPath: "relative", readOnly: true, mountPropagation: "HostToContainer" },
      { name: "c", mountPath: "/c" },
    ]);
    expect(found).toEqual([
      { hostPath: volumePath("empty-dir", "e"), containerPath: "/e", isReadOnly: false, propagation: "None" },
      {
        hostPath: volumePath("empty-dir", "e"),
        containerPath: "/relative",
        isReadOnly: true,
        propagation: "HostToContainer",
      },
      { hostPath: volumePath("configmap", "c"), containerPath: "/c", isReadOnly: true, propagation: "None" },
    ]);
  });

  test("adds a hosts file for a pod with addresses", async () => {
    const [hosts] = (await mounts([{ name: "e", mountPath: "/e" }], {}, ["10.0.0.7"])).slice(-1);
    expect(hosts?.containerPath).toBe("/etc/hosts");
    expect(readFileSync(hosts?.hostPath ?? "", "utf8")).toContain("10.0.0.7\tweb\n");
    const own = await mounts([{ name: "e", mountPath: "/etc/hosts" }], {}, ["10.0.0.7"]);
    expect(own).toHaveLength(1);
  });

  test("gives a part of a volume, and makes it", async () => {
    const [mount] = await mounts([{ name: "e", mountPath: "/e", subPath: "a/b" }]);
    expect(statSync(join(volumePath("empty-dir", "e"), "a/b")).isDirectory()).toBe(true);
    writeFileSync(join(volumePath("empty-dir", "e"), "a/b/file"), "x");
    expect(readdirSync(mount?.hostPath ?? "")).toEqual(["file"]);
  });

  test("gives a single key of a configMap", async () => {
    const [mount] = await mounts([{ name: "c", mountPath: "/etc/app.conf", subPath: "key" }]);
    expect(readFileSync(mount?.hostPath ?? "", "utf8")).toBe("value");
    expect(mount?.isReadOnly).toBe(true);
  });

  test("expands variables in a subPathExpr", async () => {
    const env = [{ name: "NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }];
    await mounts([{ name: "e", mountPath: "/e", subPathExpr: "logs/$(NAME)" }], { env });
    expect(existsSync(join(volumePath("empty-dir", "e"), "logs/web"))).toBe(true);
    const missing = mounts([{ name: "e", mountPath: "/e", subPathExpr: "$(B)/$(A)" }], { env });
    expect((await problemOf(missing)).message).toBe("missing value for A, B");
  });

  test.each([
    [{ subPath: "/etc" }, "error SubPath `/etc` must not be an absolute path"],
    [{ subPath: "a/../../x" }, "unable to provision SubPath `a/../../x`: must not contain '..'"],
    [{ subPathExpr: "$(UP)/x" }, "unable to provision SubPath `../x`: must not contain '..'"],
    [{ subPathExpr: "$(ABSOLUTE)" }, "error SubPath `/etc` must not be an absolute path"],
  ])("refuses %j", async (part, message) => {
    const env = [
      { name: "UP", value: ".." },
      { name: "ABSOLUTE", value: "/etc" },
    ];
    const problem = await problemOf(mounts([{ name: "e", mountPath: "/e", ...part }], { env }));
    expect(problem).toMatchObject({ reason: "CreateContainerConfigError", message });
  });

  test("attack 85: refuses a link that leaves the volume, without telling where it leads", async () => {
    await mounts([{ name: "e", mountPath: "/e" }]);
    symlinkSync("/etc", join(volumePath("empty-dir", "e"), "link"));
    const problem = await problemOf(mounts([{ name: "e", mountPath: "/e", subPath: "link" }]));
    expect(problem.message).toBe('failed to prepare subPath for volumeMount "e" of container "main"');
    expect(String(errors[0])).toContain("/etc");
  });

  test.if(canMount)("gives a path that a program in the volume cannot exchange", async () => {
    const outside = join(folder, "outside");
    mkdirSync(outside);
    const subPath = [{ name: "e", mountPath: "/e", subPath: "a" }];
    const [mount] = await mounts(subPath);
    const volume = volumePath("empty-dir", "e");
    writeFileSync(join(volume, "a/mine"), "x");
    renameSync(join(volume, "a"), join(volume, "b"));
    symlinkSync(outside, join(volume, "a"));
    expect(readdirSync(mount?.hostPath ?? "")).toEqual(["mine"]);
    // The next start of the container looks again.
    expect((await problemOf(mounts(subPath))).message).toContain("failed to prepare subPath");
    rmSync(join(volume, "a"));
    const [again] = await mounts(subPath);
    expect(readdirSync(again?.hostPath ?? "none")).toEqual([]);
  });

  test("refuses a volume that does not exist", async () => {
    const problem = await problemOf(
      files.mountsOf(podWith([]), { ...main, volumeMounts: [{ name: "x", mountPath: "/x" }] }),
    );
    expect(problem.message).toBe('cannot find volume "x" to mount into container "main"');
  });
});

test.if(canMount)("remove() leaves the files of the host alone that a subPath has bound", async () => {
  const host = join(folder, "host");
  mkdirSync(join(host, "data"), { recursive: true });
  writeFileSync(join(host, "data/precious"), "x");
  const pod = podWith([{ name: "h", hostPath: { path: host } }]);
  const container = { ...main, volumeMounts: [{ name: "h", mountPath: "/h", subPath: "data" }] };
  await files.prepare(pod);
  const [mount] = await files.mountsOf(pod, container);
  expect(readdirSync(mount?.hostPath ?? "")).toEqual(["precious"]);
  await files.remove("u-1");
  expect(existsSync(mount?.hostPath ?? "")).toBe(false);
  expect(readFileSync(join(host, "data/precious"), "utf8")).toBe("x");
});

describe("environmentOf()", () => {
  test("reads the objects of the pod's namespace, and files of volumes", async () => {
    setConfigMap({ key: "value" });
    setSecret({ password: "hidden" });
    const pod = podWith([{ name: "e", emptyDir: {} }]);
    await files.prepare(pod);
    writeFileSync(join(volumePath("empty-dir", "e"), "vars"), "FROM='file'\n");
    const env = [
      { name: "A", valueFrom: { configMapKeyRef: { name: "config", key: "key" } } },
      { name: "B", valueFrom: { secretKeyRef: { name: "keys", key: "password" } } },
      { name: "C", valueFrom: { fileKeyRef: { volumeName: "e", path: "vars", key: "FROM" } } },
      { name: "D", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
    ];
    const variables = await files.environmentOf(pod, { ...main, env }, ["10.0.0.7"]);
    expect(Object.fromEntries(variables)).toEqual({ A: "value", B: "hidden", C: "file", D: "10.0.0.7" });
  });

  test("attack 85: does not read a file outside of the volume", async () => {
    const pod = podWith([{ name: "e", emptyDir: {} }]);
    await files.prepare(pod);
    symlinkSync("/etc/hostname", join(volumePath("empty-dir", "e"), "vars"));
    const env = [{ name: "C", valueFrom: { fileKeyRef: { volumeName: "e", path: "vars", key: "X" } } }];
    const problem = await problemOf(files.environmentOf(pod, { ...main, env }, []));
    expect(problem).toMatchObject({ reason: "CreateContainerConfigError", message: "couldn't parse env file" });
  });

  test("waits for the services, except for a static pod", async () => {
    server.refusal = new Error("connection refused");
    const pod = podWith([]);
    const message = "services have not yet been read at least once, cannot construct envvars";
    expect((await problemOf(files.environmentOf(pod, main, []))).message).toBe(message);
    const annotations = { "kubernetes.io/config.source": "file" };
    expect(await files.environmentOf({ ...pod, metadata: { ...pod.metadata, annotations } }, main, [])).toEqual([]);
  });
});
