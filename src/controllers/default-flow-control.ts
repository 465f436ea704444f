import { decodeEntry } from "../api/codec/stored-object.ts";
import { cloneJson, equalJson, type JsonObject } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { StatusError } from "../api/status.ts";
import { type FlowControlObject, flowSchemas, priorityLevels } from "../kinds/flowcontrol/flow-control-objects.ts";
import type { Clock } from "../process/clock.ts";
import type { Registries } from "../registry/registries.ts";
import type { Registry } from "../registry/registry.ts";
import { removeObject } from "../registry/remove-object.ts";
import { serverContext } from "../registry/server-context.ts";

/**
 * The annotation that decides whether the server maintains the object. With "true" it restores the spec of this release,
 * and removes the object in a release that does not have it.
 */
const autoUpdateAnnotation = "apf.kubernetes.io/autoupdate-spec";
const trueTexts = new Set(["1", "t", "T", "true", "TRUE", "True"]);
const falseTexts = new Set(["0", "f", "F", "false", "FALSE", "False"]);
const checkIntervalMs = 60_000;

/** Creates and maintains the default priority levels and flow schemas. */
export class DefaultFlowControl {
  readonly #levels: Registry | undefined;
  readonly #schemas: Registry | undefined;

  constructor(registries: Pick<Registries, "find">) {
    const group = "flowcontrol.apiserver.k8s.io";
    this.#levels = registries.find({ group, resource: "prioritylevelconfigurations" });
    this.#schemas = registries.find({ group, resource: "flowschemas" });
  }

  /**
   * Resolves when all objects exist. Creates the levels first, because the schemas name them. Does nothing if the API
   * group is not served.
   */
  async ensure(): Promise<void> {
    if (this.#levels !== undefined) await ensureAll(this.#levels, priorityLevels);
    if (this.#schemas !== undefined) await ensureAll(this.#schemas, flowSchemas);
  }

  /** Checks once a minute. `onError` receives errors. */
  start(clock: Clock, onError: (error: unknown) => void): Disposable {
    return clock.every(checkIntervalMs, () => void this.ensure().catch(onError));
  }
}

async function ensureAll(registry: Registry, wanted: readonly FlowControlObject[]): Promise<void> {
  const names = new Set(wanted.map(({ object }) => object.metadata.name));
  await Promise.all([
    ...wanted.map((each) => ensure(registry, each)),
    ...outdated(registry, names).map((object) => removeObject(registry, object, serverContext)),
  ]);
}

async function ensure(registry: Registry, wanted: FlowControlObject): Promise<void> {
  const { name = "" } = wanted.object.metadata;
  const existing = registry.current("", name);
  if (existing !== undefined && isAsItShouldBe(existing, wanted)) return;
  try {
    if (existing !== undefined) await registry.update("", name, (old) => restored(old, wanted), serverContext);
    else await registry.create(withAnnotation(copyOf(wanted.object), true), "", serverContext);
  } catch (error) {
    if (!isSomebodyFaster(error)) throw error;
  }
}

/** Reports whether the object is correct as it is, which is the usual case. */
function isAsItShouldBe(existing: KubeObject, wanted: FlowControlObject): boolean {
  const next = restored(existing, wanted);
  return equalJson(next as unknown as JsonObject, existing as unknown as JsonObject);
}

/**
 * Returns the correct form of the object. The annotation decides who maintains it, except for a mandatory object. Without
 * an annotation, the server maintains the object until its first change.
 */
function restored(old: KubeObject, { object, mandatory }: FlowControlObject): KubeObject {
  const decision = decisionOf(old);
  const updates = mandatory || (decision ?? old.metadata.generation === 1);
  const annotated = decision === updates ? old : withAnnotation(old, updates);
  return updates ? { ...annotated, spec: { ...(copyOf(object)["spec"] as JsonObject), ...tunable(old) } } : annotated;
}

/** Returns the fields of the exempt level that administrators may set. */
function tunable({ spec }: KubeObject): JsonObject {
  const { type, exempt } = (spec ?? {}) as JsonObject;
  return type === "Exempt" && exempt !== undefined ? { exempt } : {};
}

/** Returns the annotation as a boolean; undefined if it is missing or has another value. */
function decisionOf({ metadata }: KubeObject): boolean | undefined {
  const value = metadata.annotations?.[autoUpdateAnnotation] ?? "";
  if (trueTexts.has(value)) return true;
  return falseTexts.has(value) ? false : undefined;
}

function withAnnotation(object: KubeObject, updates: boolean): KubeObject {
  const annotations = { ...object.metadata.annotations, [autoUpdateAnnotation]: String(updates) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** Returns the objects of earlier releases that no client has taken over. */
function outdated(registry: Registry, wanted: ReadonlySet<string | undefined>): KubeObject[] {
  const page = registry.cacher.list({ prefix: registry.info.keyPrefix });
  if (page instanceof Promise) return [];
  return page.entries
    .filter(({ key }) => !wanted.has(key.slice(registry.info.keyPrefix.length)))
    .map((entry) => decodeEntry(entry, registry.info))
    .filter((object) => decisionOf(object) === true);
}

/** Reports whether another replica or an administrator was faster. */
function isSomebodyFaster(error: unknown): boolean {
  return error instanceof StatusError && (error.code === 409 || error.code === 404);
}

function copyOf(object: KubeObject): KubeObject {
  return cloneJson(object as unknown as JsonObject) as unknown as KubeObject;
}
