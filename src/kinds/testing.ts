import { systemUser } from "../access/authentication/system-user.ts";
import { cloneJson, type JsonObject, type JsonValue } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { toStorage } from "../api/scheme/conversion/convert.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import { StatusError } from "../api/status.ts";
import { systemClock } from "../process/clock.ts";
import { admissionChain } from "../registry/admission.ts";
import { strategyOf } from "../registry/kind.ts";
import { Registries } from "../registry/registries.ts";
import type { WriteContext } from "../registry/write-context.ts";
import { CacherSet } from "../storage/cacher/cacher-set.ts";
import { MemoryStore } from "../storage/memory-store.ts";
import { builtInCatalog } from "./built-in-catalog.ts";
import { builtInKindOf } from "./index.ts";
import { Scheme } from "./scheme.ts";
import { ServiceAllocation } from "./service-allocation/service-allocation.ts";
import { parseServiceNetwork } from "./service-allocation/service-network.ts";

const context: WriteContext = { user: systemUser, manager: "test", dryRun: false, warn() {} };
const scheme = Scheme.builtIn({ runtimeConfig: new Map([["api/all", true]]) });
const namespace = "n";

/** `v1/services` or `apps/v1/deployments`. */
export type ResourcePath = string;

/** Returns the object as a new server stores it: decoded, defaulted, admitted and validated. */
export function created(path: ResourcePath, object: JsonObject): Promise<KubeObject> {
  return withRegistries((registries) => create(registries, path, object));
}

/** The causes for which the object is refused, `<field>: <message>` each; none when it is not. */
export function refusal(path: ResourcePath, object: JsonObject): Promise<string[]> {
  return causesOf(created(path, object));
}

/** Returns a stored object after a PUT, through a subresource if one is named. */
export function updated(
  path: ResourcePath,
  before: JsonObject,
  after: JsonObject,
  subresource = "",
): Promise<KubeObject> {
  return withRegistries(async (registries) => {
    const { metadata } = await create(registries, path, before);
    return put(registries, path, { object: after, subresource, metadata });
  });
}

/** The causes for which a PUT of `after` over the stored `before` is refused. */
export function updateRefusal(
  path: ResourcePath,
  before: JsonObject,
  after: JsonObject,
  subresource = "",
): Promise<string[]> {
  return causesOf(updated(path, before, after, subresource));
}

/** A copy with one value changed: `spec.rules[0].host`; `undefined` takes it away. */
export function changed(object: JsonObject, path: string, value: JsonValue | undefined): JsonObject {
  const copy = cloneJson(object);
  const steps = path.split(/[.[\]]+/).filter((step) => step !== "");
  let at: JsonObject | JsonValue[] = copy;
  for (const [index, step] of steps.entries()) {
    const owner = at as Record<string, JsonValue>;
    if (index === steps.length - 1) {
      if (value === undefined) delete owner[step];
      else owner[step] = value;
    } else {
      owner[step] ??= {};
      at = owner[step] as JsonObject;
    }
  }
  return copy;
}

async function withRegistries<T>(use: (registries: Registries) => Promise<T>): Promise<T> {
  const store = new MemoryStore();
  const cachers = new CacherSet({ store, clock: systemClock });
  try {
    const serviceAllocation: ServiceAllocation = new ServiceAllocation({
      network: parseServiceNetwork("10.0.0.0/16", "30000-32767"),
      store,
      clock: systemClock,
      randomInt: () => 0,
      registry: (resource) => registries.builtIn(resource),
    });
    const registries: Registries = new Registries({
      catalog: builtInCatalog(scheme),
      store,
      cachers,
      clock: systemClock,
      randomInt: () => 0,
      admission: admissionChain([]),
      allocatorOf: ({ group, resource }) =>
        group === "" && resource === "services" ? serviceAllocation.allocator : undefined,
    });
    await create(registries, "v1/namespaces", { metadata: { name: namespace } });
    return await use(registries);
  } finally {
    cachers.close();
    await store.close();
  }
}

function create(registries: Registries, path: ResourcePath, object: JsonObject): Promise<KubeObject> {
  const info = infoOf(path);
  const decoded = decode(info, object);
  return registries
    .of(info)
    .create(decoded, decoded.metadata.namespace ?? "", { ...context, version: info })
    .then((result) => result.object);
}

async function put(
  registries: Registries,
  path: ResourcePath,
  { object, subresource, metadata }: { object: JsonObject; subresource: string; metadata: KubeObject["metadata"] },
): Promise<KubeObject> {
  const info = infoOf(path);
  const registry = registries.of(info);
  const strategy = strategyOf(builtInKindOf(info), subresource);
  const { resourceVersion = "" } = metadata;
  const transform = () => {
    const decoded = decode(info, object);
    decoded.metadata = { ...decoded.metadata, name: metadata.name ?? "", resourceVersion };
    return decoded;
  };
  const options = { strategy, subresource };
  const result = await registry.update(
    metadata.namespace ?? "",
    metadata.name ?? "",
    transform,
    { ...context, version: info },
    options,
  );
  return result.object;
}

function infoOf(path: ResourcePath): ResourceInfo {
  const [resource = "", version = "", group = ""] = path.split("/").toReversed();
  const info = scheme.find(group, version, resource);
  if (info === undefined) throw new Error(`${path} is not served`);
  return info;
}

/** Returns the stored form. Fills in the test's namespace, and the name `a`. */
function decode(info: ResourceInfo, object: JsonObject): KubeObject {
  const { object: decoded } = info.form.decode(cloneJson(object), { kind: info.kind });
  const { metadata } = decoded as unknown as KubeObject;
  const filled = { name: "a", ...(info.namespaced ? { namespace } : {}), ...metadata };
  return toStorage({ ...decoded, kind: info.kind, metadata: filled } as unknown as KubeObject, info);
}

async function causesOf(write: Promise<unknown>): Promise<string[]> {
  const error = await write.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error === undefined) return [];
  if (!(error instanceof StatusError)) throw error;
  const causes = error.status.details?.causes ?? [];
  if (error.code !== 422 || causes.length === 0) throw error;
  return causes.map(({ field, message }) => `${field}: ${message}`);
}
