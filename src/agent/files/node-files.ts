import { chmod, mkdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { nanosPerUnit, parseQuantity } from "../../api/quantity.ts";
import type { ClusterTrustBundle } from "../../api/types/certificates-v1beta1.ts";
import type {
  ConfigMap,
  Container,
  Node,
  Pod,
  ResourceList,
  Secret,
  Service,
  Volume,
  VolumeMount,
} from "../../api/types/core-v1.ts";
import { hasBacksteps } from "../../api/validation/local-path.ts";
import type { Client, ResourceType } from "../../client/client.ts";
import type { Clock } from "../../process/clock.ts";
import { thrownText } from "../../process/thrown-text.ts";
import { containersOf } from "../pods/pod-containers.ts";
import { type PodFiles, PodFilesError } from "../pods/pod-files.ts";
import { isStaticPod } from "../pods/pod-source.ts";
import type { Mount } from "../runtime/runtime.ts";
import { shareFolder, writeAtomically } from "./atomic-folder.ts";
import { type ClaimedVolume, claimedVolume, isClaimed } from "./claimed-volume.ts";
import { containerEnvironment } from "./environment.ts";
import { environmentFileValue } from "./environment-file.ts";
import { expandReferences } from "./expand-references.ts";
import { prepareHostPath } from "./host-path.ts";
import { hostsFile } from "./hosts-file.ts";
import { MountTable } from "./mount-table.ts";
import { ReferencedObjects } from "./referenced-objects.ts";
import { SharedList } from "./shared-list.ts";
import { type HeldPath, openSubPath } from "./sub-path.ts";
import { TokenSource } from "./token-source.ts";
import { volumePayload } from "./volume-payload.ts";

const configMaps: ResourceType<ConfigMap> = { group: "", version: "v1", resource: "configmaps" };
const secrets: ResourceType<Secret> = { group: "", version: "v1", resource: "secrets" };
const services: ResourceType<Service> = { group: "", version: "v1", resource: "services" };
const trustBundles: ResourceType<ClusterTrustBundle> = {
  group: "certificates.k8s.io",
  version: "v1beta1",
  resource: "clustertrustbundles",
};

/** Folders of the kinds of volumes, with kubelet's names, that tools know. */
const volumeFolders = {
  configMap: "kubernetes.io~configmap",
  secret: "kubernetes.io~secret",
  downwardAPI: "kubernetes.io~downward-api",
  projected: "kubernetes.io~projected",
  emptyDir: "kubernetes.io~empty-dir",
} as const;

const hostsPath = "/etc/hosts";
/** Largest file of variables that is read. */
const environmentFileBytesMax = 1024 * 1024;

export interface NodeFilesParts {
  readonly client: Pick<Client, "get" | "list" | "watch" | "act">;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** The agent's `--root-dir`. */
  readonly rootDirectory: string;
  /** Returns the API object of the node; undefined while it is not known. */
  readonly node: () => Node | undefined;
  /** Returns the addresses of the node, the primary one first. */
  readonly hostIps: () => readonly string[];
  /** Domain of the cluster's services. */
  readonly clusterDomain?: string | undefined;
  readonly onError: (error: unknown) => void;
}

/**
 * Keeps the volumes of the pods of a node below the agent's root directory:
 *
 *     pods/<uid>/volumes/<kind>/<name>                         the files of a volume
 *     pods/<uid>/volume-subpaths/<volume>/<container>/<index>  a part of one, bound so that it cannot be exchanged
 *     pods/<uid>/etc-hosts
 *
 * Only the agent's user can enter `pods`. Containers see the files through their mounts.
 */
export class NodeFiles implements PodFiles, Disposable {
  readonly #parts: NodeFilesParts;
  readonly #configMaps: ReferencedObjects<ConfigMap>;
  readonly #secrets: ReferencedObjects<Secret>;
  readonly #services: SharedList<Service>;
  readonly #trustBundles: SharedList<ClusterTrustBundle>;
  readonly #tokens: TokenSource;
  /** Volumes of claims, by the uid of their pod and their name. A claim is bound once and for all. */
  readonly #claimed = new Map<string, ReadonlyMap<string, ClaimedVolume>>();
  /** Undefined where the agent may not mount. */
  readonly #mounts: MountTable | undefined;
  readonly #isRoot = process.getuid?.() === 0;

  private constructor(parts: NodeFilesParts, mounts: MountTable | undefined) {
    this.#parts = parts;
    this.#mounts = mounts;
    this.#configMaps = new ReferencedObjects({ ...parts, type: configMaps, singular: "configmap" });
    this.#secrets = new ReferencedObjects({ ...parts, type: secrets, singular: "secret" });
    const noServices = "services have not yet been read at least once, cannot construct envvars";
    this.#services = new SharedList({ ...parts, type: services }, noServices);
    const noBundles = "ClusterTrustBundle informer has not yet synced";
    this.#trustBundles = new SharedList({ ...parts, type: trustBundles }, noBundles);
    this.#tokens = new TokenSource(parts);
  }

  static async open(parts: NodeFilesParts): Promise<NodeFiles> {
    await mkdir(join(parts.rootDirectory, "pods"), { recursive: true });
    // The kernel tells of mounts by their real paths.
    const rootDirectory = await realpath(parts.rootDirectory);
    await chmod(join(rootDirectory, "pods"), 0o700);
    return new NodeFiles({ ...parts, rootDirectory }, (await MountTable.isAllowed()) ? new MountTable() : undefined);
  }

  async prepare(pod: Pod): Promise<void> {
    const used = usedVolumes(pod);
    const volumes = (pod.spec?.volumes ?? []).filter(({ name }) => used.has(name));
    const results = await Promise.allSettled(volumes.map((volume) => this.#setUp(pod, volume)));
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  async mountsOf(pod: Pod, container: Container, ips: readonly string[] = []): Promise<readonly Mount[]> {
    try {
      const mounts: Mount[] = [];
      for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
        mounts.push(await this.#mountOf(pod, container, mount, index, ips));
      }
      const hosts = await this.#hostsMount(pod, ips);
      const hasOwnHosts = mounts.some(({ containerPath }) => containerPath === hostsPath);
      return hosts === undefined || hasOwnHosts ? mounts : [...mounts, hosts];
    } catch (error) {
      throw asConfigError(error);
    }
  }

  async environmentOf(
    pod: Pod,
    container: Container,
    ips: readonly string[],
  ): Promise<readonly (readonly [name: string, value: string])[]> {
    const { namespace = "" } = pod.metadata;
    try {
      return await containerEnvironment(pod, container, {
        addresses: { podIps: ips, hostIps: this.#parts.hostIps() },
        services: await this.#servicesFor(pod),
        configMap: (name) => this.#configMaps.get(namespace, name),
        secret: (name) => this.#secrets.get(namespace, name),
        fileKey: (volumeName, path, key) => this.#fileKey(pod, volumeName, path, key),
        allocatable: () => this.#allocatable(),
      });
    } catch (error) {
      throw asConfigError(error);
    }
  }

  async remove(podUid: string): Promise<void> {
    this.#tokens.forget(podUid);
    this.#claimed.delete(podUid);
    const folder = this.#podFolder(podUid);
    for (const point of (await this.#mounts?.below(folder)) ?? []) await this.#mounts?.unmount(point);
    // Removing a folder in which something is mounted would remove the files of somebody else.
    const [left] = await new MountTable().below(folder);
    if (left !== undefined) throw new Error(`${left} is still mounted`);
    await rm(folder, { recursive: true, force: true });
  }

  [Symbol.dispose](): void {
    for (const part of [this.#configMaps, this.#secrets, this.#services, this.#trustBundles, this.#tokens]) {
      part[Symbol.dispose]();
    }
  }

  async #servicesFor(pod: Pod): Promise<Iterable<Service>> {
    try {
      return (await this.#services.objects()).objects();
    } catch (error) {
      // A static pod may be what the API server needs in order to start.
      if (isStaticPod(pod)) return [];
      throw error;
    }
  }

  async #setUp(pod: Pod, volume: Volume): Promise<void> {
    try {
      if (volume.hostPath !== undefined) return await prepareHostPath(volume.hostPath);
      if (isClaimed(volume)) return await this.#findClaimed(pod, volume);
      const folder = this.#volumeFolder(pod, volume);
      if (volume.emptyDir !== undefined) return await this.#makeEmpty(pod, volume, folder);
      const payload = await volumePayload(pod, volume, {
        configMap: (namespace, name) => this.#configMaps.get(namespace, name),
        secret: (namespace, name) => this.#secrets.get(namespace, name),
        trustBundles: async () => [...(await this.#trustBundles.objects()).objects()],
        tokens: this.#tokens,
        allocatable: () => this.#allocatable(),
      });
      await mkdir(folder, { recursive: true, mode: 0o755 });
      const group = this.#groupOf(pod);
      if (group !== undefined) await shareFolder(folder, group);
      // Only root may give files away.
      const files = [...(payload ?? [])].map(
        ([path, file]) => [path, this.#isRoot ? file : { ...file, uid: undefined }] as const,
      );
      await writeAtomically(folder, new Map(files), group);
    } catch (error) {
      throw new PodFilesError(
        "FailedMount",
        `MountVolume.SetUp failed for volume "${volume.name}" : ${thrownText(error)}`,
      );
    }
  }

  async #findClaimed(pod: Pod, volume: Volume): Promise<void> {
    const { uid = "" } = pod.metadata;
    if (this.#claimed.get(uid)?.has(volume.name) === true) return;
    const { client, node } = this.#parts;
    const found = await claimedVolume(client, pod, volume, node());
    this.#claimed.set(uid, new Map([...(this.#claimed.get(uid) ?? []), [volume.name, found]]));
  }

  async #makeEmpty(pod: Pod, { emptyDir }: Volume, folder: string): Promise<void> {
    const isNew = (await stat(folder).catch(() => undefined)) === undefined;
    await mkdir(folder, { recursive: true });
    const isMemory = emptyDir?.medium === "Memory" && this.#mounts !== undefined;
    if (isMemory && !((await this.#mounts?.below(folder)) ?? []).includes(folder)) {
      const limit = emptyDir?.sizeLimit;
      const sizeBytes = limit === undefined ? undefined : parseQuantity(limit).nanos / nanosPerUnit;
      await this.#mounts?.mountMemory(folder, sizeBytes, "1777");
    }
    if (!isNew) return;
    await chmod(folder, 0o777);
    const group = this.#groupOf(pod);
    if (group !== undefined) await shareFolder(folder, group);
  }

  async #mountOf(
    pod: Pod,
    container: Container,
    mount: VolumeMount,
    index: number,
    ips: readonly string[],
  ): Promise<Mount> {
    const volume = pod.spec?.volumes?.find(({ name }) => name === mount.name);
    if (volume === undefined) {
      throw new Error(`cannot find volume "${mount.name}" to mount into container "${container.name}"`);
    }
    const claimed = this.#claimed.get(pod.metadata.uid ?? "")?.get(volume.name);
    const volumePath = volume.hostPath?.path ?? claimed?.path ?? this.#volumeFolder(pod, volume);
    const subPath = await this.#subPathOf(pod, container, mount, ips);
    const isFixed = volume.hostPath === undefined && volume.emptyDir === undefined && !isClaimed(volume);
    return {
      hostPath:
        subPath === "" ? volumePath : await this.#bindSubPath(pod, container, mount, index, volumePath, subPath),
      containerPath: isAbsolute(mount.mountPath) ? mount.mountPath : join("/", mount.mountPath),
      isReadOnly: mount.readOnly === true || claimed?.isReadOnly === true || isFixed,
      propagation: propagationOf(mount),
    };
  }

  async #subPathOf(pod: Pod, container: Container, mount: VolumeMount, ips: readonly string[]): Promise<string> {
    const { subPath = "", subPathExpr = "" } = mount;
    const path = subPathExpr === "" ? subPath : await this.#expandSubPath(pod, container, subPathExpr, ips);
    if (isAbsolute(path)) throw new Error(`error SubPath \`${path}\` must not be an absolute path`);
    if (hasBacksteps(path)) throw new Error(`unable to provision SubPath \`${path}\`: must not contain '..'`);
    return path;
  }

  async #expandSubPath(pod: Pod, container: Container, expression: string, ips: readonly string[]): Promise<string> {
    const variables = new Map(await this.environmentOf(pod, container, ips));
    const missing = new Set<string>();
    const path = expandReferences(expression, (name) => {
      const value = variables.get(name) ?? "";
      if (value === "") missing.add(name);
      return value;
    });
    if (missing.size > 0) throw new Error(`missing value for ${[...missing].sort().join(", ")}`);
    return path;
  }

  /** Returns a path that leads to the same file for as long as the container runs. */
  async #bindSubPath(
    pod: Pod,
    { name }: Container,
    mount: VolumeMount,
    index: number,
    volumePath: string,
    subPath: string,
  ): Promise<string> {
    try {
      using held = await openSubPath(volumePath, subPath, "make");
      // Without the right to mount, containers have no more rights than the agent, and gain nothing by an exchange.
      if (this.#mounts === undefined) return held.path;
      const folder = join(this.#podFolder(pod.metadata.uid ?? ""), "volume-subpaths");
      const target = join(folder, safeName(mount.name), safeName(name), String(index));
      await this.#bind(this.#mounts, held, target);
      return target;
    } catch (error) {
      // The message may tell about the file system of the host, so the pod's owner does not see it.
      this.#parts.onError(error);
      throw new Error(`failed to prepare subPath for volumeMount "${mount.name}" of container "${name}"`);
    }
  }

  async #bind(mounts: MountTable, held: HeldPath, target: string): Promise<void> {
    if ((await mounts.below(target)).includes(target)) {
      if (held.isAt(target)) return;
      await mounts.unmount(target);
    }
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await rm(target, { recursive: true, force: true });
    if (held.isFolder) await mkdir(target);
    else await writeFile(target, "");
    await mounts.bind(held.handle, target);
  }

  async #hostsMount(pod: Pod, ips: readonly string[]): Promise<Mount | undefined> {
    const isHostNetwork = pod.spec?.hostNetwork === true;
    if (ips.length === 0 && !isHostNetwork) return undefined;
    const { clusterDomain = "cluster.local" } = this.#parts;
    const ofHost = isHostNetwork ? await readFile(hostsPath, "utf8") : "";
    const file = join(this.#podFolder(pod.metadata.uid ?? ""), "etc-hosts");
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, hostsFile(pod, ips, ofHost, clusterDomain));
    await chmod(file, 0o644);
    return { hostPath: file, containerPath: hostsPath, isReadOnly: false, propagation: "None" };
  }

  async #fileKey(pod: Pod, volumeName: string, path: string, key: string): Promise<string> {
    const volume = pod.spec?.volumes?.find(({ name }) => name === volumeName);
    if (volume === undefined) throw new Error(`cannot find the volume "${volumeName}" referenced by FileKeyRef`);
    try {
      using held = await openSubPath(volume.hostPath?.path ?? this.#volumeFolder(pod, volume), path, "refuse");
      const facts = await stat(held.handle);
      if (!facts.isFile() || facts.size > environmentFileBytesMax) throw new Error("not a small file");
      return environmentFileValue(await readFile(held.handle, "utf8"), key);
    } catch (error) {
      this.#parts.onError(error);
      throw new Error("couldn't parse env file");
    }
  }

  #allocatable(): ResourceList {
    const node = this.#parts.node();
    if (node === undefined) throw new Error("failed to find node object, expected a node");
    return node.status?.allocatable ?? {};
  }

  /** Returns the group that owns the files of a pod; undefined where only root could give them away. */
  #groupOf({ spec }: Pod): number | undefined {
    const group = spec?.securityContext?.fsGroup;
    return group === undefined || !this.#isRoot ? undefined : Number(group);
  }

  localVolumesOf(pod: Pod): readonly (readonly [name: string, path: string])[] {
    const onDisk = (pod.spec?.volumes ?? []).filter(
      // A file system in memory limits itself.
      ({ emptyDir }) => emptyDir !== undefined && (emptyDir.medium !== "Memory" || this.#mounts === undefined),
    );
    return onDisk.map((volume) => [volume.name, this.#volumeFolder(pod, volume)] as const);
  }

  #podFolder(podUid: string): string {
    return join(this.#parts.rootDirectory, "pods", safeName(podUid));
  }

  /** @throws Error for a volume of a kind that this agent does not have */
  #volumeFolder(pod: Pod, volume: Volume): string {
    const kinds = Object.keys(volumeFolders) as (keyof typeof volumeFolders)[];
    const kind = kinds.find((one) => volume[one] !== undefined);
    if (kind === undefined) {
      const wanted = Object.keys(volume).find((key) => key !== "name") ?? "unknown";
      throw new Error(`no volume plugin matched: this agent has no volumes of type ${wanted}`);
    }
    const folder = join(this.#podFolder(pod.metadata.uid ?? ""), "volumes", volumeFolders[kind]);
    return join(folder, safeName(volume.name));
  }
}

/** Returns the names of the volumes that a container mounts. Others are not made. */
function usedVolumes(pod: Pod): Set<string> {
  const containers = containersOf(pod).map(({ spec }) => spec);
  const mounted = containers.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name));
  const read = containers.flatMap(({ env = [] }) =>
    env.flatMap(({ valueFrom }) => valueFrom?.fileKeyRef?.volumeName ?? []),
  );
  return new Set([...mounted, ...read]);
}

/** Rejects a text that is not the name of one file. Names come from the API, and from files of static pods. */
function safeName(name: string): string {
  if (/^[A-Za-z0-9][-.A-Za-z0-9_]{0,252}$/.test(name)) return name;
  throw new Error(`${JSON.stringify(name)} cannot be the name of a folder`);
}

function propagationOf({ mountPropagation = "None" }: VolumeMount): Mount["propagation"] {
  return mountPropagation === "HostToContainer" || mountPropagation === "Bidirectional" ? mountPropagation : "None";
}

function asConfigError(error: unknown): PodFilesError {
  return error instanceof PodFilesError ? error : new PodFilesError("CreateContainerConfigError", thrownText(error));
}
