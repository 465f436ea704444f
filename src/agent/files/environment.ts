import type {
  ConfigMap,
  Container,
  EnvVarSource,
  Pod,
  ResourceList,
  Secret,
  Service,
} from "../../api/types/core-v1.ts";
import { expandReferences } from "./expand-references.ts";
import { type PodAddresses, variableField } from "./field-values.ts";
import { resourceValue } from "./resource-values.ts";
import { serviceVariables } from "./service-variables.ts";

/** Everything that the variables of a container are made of, besides its pod. */
export interface EnvironmentSources {
  readonly addresses: PodAddresses;
  readonly services: Iterable<Service>;
  /** Return undefined for an object that does not exist. */
  configMap(name: string): Promise<Pick<ConfigMap, "data"> | undefined>;
  secret(name: string): Promise<Pick<Secret, "data"> | undefined>;
  /** Returns the value of a key in a file of a volume; an empty text if the key is not in it. */
  fileKey(volumeName: string, path: string, key: string): Promise<string>;
  /** @throws Error if the node is not known yet */
  allocatable(): ResourceList;
}

type Variable = readonly [name: string, value: string];

/** A key of an object that does not exist, and need not. */
const absent = Symbol("absent");

/**
 * Returns the variables of a container: those of services, then `envFrom`, then `env`. A later one replaces an earlier
 * one of the same name.
 * @throws Error with upstream's message if an object or key is absent
 */
export async function containerEnvironment(
  pod: Pod,
  container: Container,
  sources: EnvironmentSources,
): Promise<Variable[]> {
  const { namespace = "" } = pod.metadata;
  const ofServices = serviceVariables(sources.services, namespace, pod.spec?.enableServiceLinks ?? true);
  const own = new Map<string, string>();
  for (const { prefix = "", configMapRef, secretRef } of container.envFrom ?? []) {
    const data =
      configMapRef !== undefined
        ? await configMapData(configMapRef, sources)
        : await secretData(secretRef ?? {}, sources);
    for (const [key, value] of Object.entries(data)) own.set(prefix + key, value);
  }
  for (const { name, value = "", valueFrom } of container.env ?? []) {
    // References see the variables above, with the services' last.
    const known = (referenced: string) => own.get(referenced) ?? ofServices.get(referenced);
    if (value !== "" || valueFrom === undefined) own.set(name, expandReferences(value, known));
    else {
      const found = await sourceValue(pod, container, valueFrom, sources);
      if (found !== absent) own.set(name, found);
    }
  }
  return [...[...ofServices].filter(([name]) => !own.has(name)), ...own];
}

async function sourceValue(
  pod: Pod,
  container: Container,
  { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef }: EnvVarSource,
  sources: EnvironmentSources,
): Promise<string | typeof absent> {
  if (fieldRef !== undefined) return variableField(pod, fieldRef.fieldPath, sources.addresses);
  if (resourceFieldRef !== undefined) return resourceValue(resourceFieldRef, pod, container, sources.allocatable());
  if (configMapKeyRef !== undefined) {
    return keyOf(pod, "ConfigMap", configMapKeyRef, await configMapData(configMapKeyRef, sources));
  }
  if (secretKeyRef !== undefined) {
    return keyOf(pod, "Secret", secretKeyRef, await secretData(secretKeyRef, sources));
  }
  if (fileKeyRef !== undefined) {
    const { volumeName, path, key, optional = false } = fileKeyRef;
    const value = await sources.fileKey(volumeName, path, key);
    if (value !== "") return value;
    if (optional) return absent;
    throw new Error(`environment variable key "${key}" not found in file "${path}"`);
  }
  return "";
}

interface Reference {
  readonly name?: string;
  readonly optional?: boolean;
}

type Data = Readonly<Record<string, string>>;

async function configMapData({ name = "", optional = false }: Reference, sources: EnvironmentSources): Promise<Data> {
  const found = await sources.configMap(name);
  if (found === undefined && !optional) throw new Error(`configmap "${name}" not found`);
  return found?.data ?? {};
}

async function secretData({ name = "", optional = false }: Reference, sources: EnvironmentSources): Promise<Data> {
  const found = await sources.secret(name);
  if (found === undefined && !optional) throw new Error(`secret "${name}" not found`);
  const entries = Object.entries(found?.data ?? {});
  return Object.fromEntries(entries.map(([key, text]) => [key, Buffer.from(text, "base64").toString()]));
}

function keyOf(
  pod: Pod,
  kind: string,
  { name = "", key, optional = false }: Reference & { readonly key: string },
  data: Data,
): string | typeof absent {
  const value = Object.hasOwn(data, key) ? data[key] : undefined;
  if (value !== undefined) return value;
  if (optional) return absent;
  throw new Error(`couldn't find key ${key} in ${kind} ${pod.metadata.namespace}/${name}`);
}
