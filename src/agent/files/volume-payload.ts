import type { ClusterTrustBundle } from "../../api/types/certificates-v1beta1.ts";
import type {
  ConfigMap,
  DownwardAPIVolumeFile,
  KeyToPath,
  Pod,
  ResourceList,
  Secret,
  Volume,
  VolumeProjection,
} from "../../api/types/core-v1.ts";
import { thrownText } from "../../process/thrown-text.ts";
import { containersOf } from "../pods/pod-containers.ts";
import { problemsText } from "../problems-text.ts";
import type { Payload, ProjectedFile } from "./atomic-folder.ts";
import { metadataField } from "./field-values.ts";
import { resourceValue } from "./resource-values.ts";
import type { TokenSource } from "./token-source.ts";
import { trustAnchors } from "./trust-anchors.ts";

const defaultModeOfFiles = 0o644;
/** Mode of files that only the user of the pod may read. */
const privateMode = 0o600;

/** The objects that files of volumes are made of. */
export interface PayloadSources {
  /** Return undefined for an object that does not exist. */
  configMap(namespace: string, name: string): Promise<ConfigMap | undefined>;
  secret(namespace: string, name: string): Promise<Secret | undefined>;
  trustBundles(): Promise<readonly ClusterTrustBundle[]>;
  readonly tokens: Pick<TokenSource, "tokenFor">;
  /** @throws Error if the node is not known yet */
  allocatable(): ResourceList;
}

/** Returns the files of a volume that is made of API objects; undefined for another. @throws Error for an absent one */
export async function volumePayload(pod: Pod, volume: Volume, sources: PayloadSources): Promise<Payload | undefined> {
  const { configMap, secret, downwardAPI, projected } = volume;
  if (configMap !== undefined) return configMapFiles(pod, configMap, modeOf(configMap), sources);
  if (secret !== undefined) {
    const { secretName = "", items, optional } = secret;
    return secretFiles(pod, { name: secretName, items, optional }, modeOf(secret), sources);
  }
  if (downwardAPI !== undefined) return downwardFiles(pod, downwardAPI.items ?? [], modeOf(downwardAPI), sources);
  if (projected === undefined) return undefined;
  const files = new Map<string, ProjectedFile>();
  const problems: string[] = [];
  for (const source of projected.sources ?? []) {
    try {
      // A later source replaces the file of an earlier one.
      for (const [path, file] of await projectedFiles(pod, source, modeOf(projected), sources)) files.set(path, file);
    } catch (error) {
      problems.push(thrownText(error));
    }
  }
  if (problems.length > 0) throw new Error(problemsText(problems));
  return files;
}

async function projectedFiles(
  pod: Pod,
  { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate }: VolumeProjection,
  mode: number,
  sources: PayloadSources,
): Promise<Payload> {
  if (configMap !== undefined) return configMapFiles(pod, configMap, mode, sources);
  if (secret !== undefined) return secretFiles(pod, secret, mode, sources);
  if (downwardAPI !== undefined) return downwardFiles(pod, downwardAPI.items ?? [], mode, sources);
  if (serviceAccountToken !== undefined) {
    const token = await sources.tokens.tokenFor(pod, serviceAccountToken);
    return new Map([[serviceAccountToken.path, credentialFile(pod, token, mode)]]);
  }
  if (clusterTrustBundle !== undefined) {
    const certificates = trustAnchors(await sources.trustBundles(), clusterTrustBundle);
    return new Map([[clusterTrustBundle.path, credentialFile(pod, certificates, mode)]]);
  }
  if (podCertificate !== undefined) throw new Error("this agent does not request pod certificates");
  return new Map();
}

interface Selection {
  readonly name?: string | undefined;
  readonly items?: readonly KeyToPath[] | undefined;
  readonly optional?: boolean | undefined;
}

async function configMapFiles(
  pod: Pod,
  { name = "", items = [], optional = false }: Selection,
  mode: number,
  sources: PayloadSources,
): Promise<Payload> {
  const object = await sources.configMap(pod.metadata.namespace ?? "", name);
  if (object === undefined && !optional) throw new Error(`configmap "${name}" not found`);
  const texts = Object.entries(object?.data ?? {}).map(([key, text]): [string, Buffer] => [key, Buffer.from(text)]);
  const data = new Map([...texts, ...decoded(object?.binaryData)]);
  return selectedFiles(data, items, mode, (key) => {
    if (!optional) throw new Error(`configmap references non-existent config key: ${key}`);
  });
}

async function secretFiles(
  pod: Pod,
  { name = "", items = [], optional = false }: Selection,
  mode: number,
  sources: PayloadSources,
): Promise<Payload> {
  const object = await sources.secret(pod.metadata.namespace ?? "", name);
  if (object === undefined && !optional) throw new Error(`secret "${name}" not found`);
  return selectedFiles(new Map(decoded(object?.data)), items, mode, (key) => {
    if (!optional) throw new Error(`references non-existent secret key: ${key}`);
  });
}

function selectedFiles(
  data: ReadonlyMap<string, Buffer>,
  items: readonly KeyToPath[],
  mode: number,
  missing: (key: string) => void,
): Payload {
  if (items.length === 0) return new Map([...data].map(([key, bytes]) => [key, { data: bytes, mode }]));
  const files = new Map<string, ProjectedFile>();
  for (const item of items) {
    const bytes = data.get(item.key);
    if (bytes === undefined) missing(item.key);
    else files.set(item.path, { data: bytes, mode: item.mode ?? mode });
  }
  return files;
}

function downwardFiles(
  pod: Pod,
  items: readonly DownwardAPIVolumeFile[],
  mode: number,
  sources: PayloadSources,
): Payload {
  const files = new Map<string, ProjectedFile>();
  const problems: string[] = [];
  for (const { path, fieldRef, resourceFieldRef, mode: own = mode } of items) {
    try {
      const ofResource = () =>
        resourceFieldRef === undefined ? "" : resourceValue(resourceFieldRef, pod, undefined, sources.allocatable());
      const text = fieldRef === undefined ? ofResource() : metadataField(pod, fieldRef.fieldPath);
      files.set(path, { data: Buffer.from(text), mode: own });
    } catch (error) {
      problems.push(thrownText(error));
    }
  }
  if (problems.length > 0) throw new Error(problemsText(problems));
  return files;
}

/** A token or certificates are for the user of the pod alone, if the pod has one user or one group for its files. */
function credentialFile(pod: Pod, text: string, mode: number): ProjectedFile {
  const uid = fileUser(pod);
  const isPrivate = uid !== undefined || pod.spec?.securityContext?.fsGroup !== undefined;
  return { data: Buffer.from(text), mode: isPrivate ? privateMode : mode, uid };
}

/** Returns the user that all containers of a pod run as; undefined if there are several or the images decide. */
function fileUser(pod: Pod): number | undefined {
  const ofPod = pod.spec?.securityContext?.runAsUser;
  const users = containersOf(pod).map(({ spec }) => spec.securityContext?.runAsUser ?? ofPod);
  const [first] = users;
  return first !== undefined && users.every((user) => Number(user) === Number(first)) ? Number(first) : undefined;
}

function modeOf({ defaultMode }: { readonly defaultMode?: number }): number {
  return defaultMode ?? defaultModeOfFiles;
}

function decoded(data: Readonly<Record<string, string>> = {}): [key: string, bytes: Buffer][] {
  return Object.entries(data).map(([key, text]) => [key, Buffer.from(text, "base64")]);
}
