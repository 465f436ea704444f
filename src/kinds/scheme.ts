import { apiVersionOf, type GroupVersion, type GroupVersionKind, parseApiVersion } from "../api/gvk.ts";
import type { JsonValue } from "../api/json.ts";
import { type TypeEntries, TypeSchemas } from "../api/schema/compile.ts";
import { decodeTyped } from "../api/schema/decode.ts";
import { DecodeTypeError } from "../api/schema/decode-error.ts";
import type { StructSchema } from "../api/schema/schema.ts";
import { deprecationOf } from "../api/scheme/deprecation.ts";
import fieldSelectorsJson from "../api/scheme/generated/fieldselectors.json";
import resourcesJson from "../api/scheme/generated/resources.json";
import tablesJson from "../api/scheme/generated/tables.json";
import typesJson from "../api/scheme/generated/types.json";
import { structForm } from "../api/scheme/object-form.ts";
import { type ResourceInfo, type StoredAs, type SubresourceInfo, storedInfo } from "../api/scheme/resource.ts";
import { gateOfResource } from "../api/scheme/resource-gates.ts";
import { isServed, type RuntimeConfig, refuseUnknownKeys } from "../api/scheme/runtime-config.ts";
import { selectableFields } from "../api/scheme/selectable-fields.ts";
import { type ColumnEntry, tableColumns } from "../api/scheme/table-columns.ts";
import type { Kind } from "../registry/kind.ts";
import { defaultRules } from "./default-rules.ts";
import { builtInKindOf, builtInKinds } from "./index.ts";

interface ResourceEntry {
  readonly kind: string;
  readonly type: string;
  readonly singular: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly stability: string;
  readonly defaultOn: boolean;
  readonly hash?: string;
  /** Absent for a virtual kind. */
  readonly prefix?: string;
  readonly virtual?: 1;
  /** Stored apiVersion, if it is another one. */
  readonly storage?: string;
  readonly deprecated?: string;
  readonly removed?: string;
  readonly replacement?: string;
  readonly subresources: readonly SubresourceEntry[];
}
interface SubresourceEntry {
  readonly name: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly type: string;
  readonly verbs: readonly string[];
}

/** One API group that has a served resource. */
export interface GroupInfo {
  /** Empty for the core group. */
  readonly group: string;
  /** In order of preference. */
  readonly versions: readonly string[];
  readonly preferredVersion: string;
}
export interface SchemeOptions {
  readonly runtimeConfig?: RuntimeConfig;
  /** State of a feature gate; by default all are on. */
  readonly gateEnabled?: (name: string) => boolean;
}

const groupKeyPrefix = "group:";
const typeEntries = typesJson as unknown as TypeEntries;
const resourceEntries = resourcesJson as unknown as Readonly<Record<string, ResourceEntry | readonly string[]>>;
const tableEntries = tablesJson as unknown as Readonly<Record<string, readonly ColumnEntry[]>>;
const fieldSelectorEntries = fieldSelectorsJson as unknown as Readonly<Record<string, readonly string[]>>;

/** The built-in API: which resources are served, and the schema of every type they use. */
export class Scheme {
  /** Ordered by group in discovery order, then version by preference, then name. */
  readonly resources: readonly ResourceInfo[];
  /**
   * The stored form of every kind, each once, however many versions share it. It includes kinds that are served by
   * default but disabled, because the server itself uses many of them.
   */
  readonly stored: readonly ResourceInfo[];
  readonly #types: TypeSchemas;
  readonly #infos: ResourceInfos;
  readonly #groups: readonly GroupInfo[];
  readonly #byResource = new Map<string, ResourceInfo>();
  readonly #byKind = new Map<string, ResourceInfo>();

  /** @throws Error `unknown api groups …` when the runtime configuration names what does not exist */
  static builtIn(options: SchemeOptions = {}): Scheme {
    return new Scheme(options);
  }

  private constructor({ runtimeConfig = new Map(), gateEnabled = () => true }: SchemeOptions) {
    const enabled = (gate: string | undefined) => gate === undefined || gateEnabled(gate);
    this.#types = new TypeSchemas(typeEntries, defaultRules(Object.values(builtInKinds)));
    const groups = generatedGroups();
    const resources = generatedResources();
    refuseUnknownKeys(
      runtimeConfig,
      resources.map(([key]) => key),
    );

    const infos = new ResourceInfos(this.#types);
    this.resources = resources
      .filter(([, entry, at]) =>
        isServed({ ...at, stability: entry.stability, defaultOn: entry.defaultOn }, runtimeConfig),
      )
      .filter(([, , { group, resource }]) => enabled(gateOfResource(group, resource)))
      .map(([key]) => infos.of(key))
      .sort(discoveryOrder(groups));
    for (const info of this.resources) {
      this.#byResource.set(`${info.group}/${info.version}/${info.resource}`, info);
      this.#byKind.set(`${apiVersionOf(info)}/${info.kind}`, info);
    }
    this.#infos = infos;
    const byDefault = resources.filter(([, { defaultOn }]) => defaultOn).map(([key]) => infos.of(key));
    const known = [...byDefault, ...this.resources].filter((info) => !info.virtual);
    this.stored = [...new Set(known.map(storedInfo))];
    this.#groups = groups.flatMap(({ group, versions }) => this.#servedGroup(group, versions));
  }

  /** Returns every version of every stored kind, served or not. */
  storedVersions(): ResourceInfo[] {
    return generatedResources()
      .map(([key]) => this.#infos.of(key))
      .filter((info) => !info.virtual);
  }

  find(group: string, version: string, resource: string): ResourceInfo | undefined {
    return this.#byResource.get(`${group}/${version}/${resource}`);
  }

  /** The resource whose objects have this kind. */
  findKind(gvk: GroupVersionKind): ResourceInfo | undefined {
    return this.#byKind.get(`${apiVersionOf(gvk)}/${gvk.kind}`);
  }

  /** Served groups in discovery order. */
  groups(): readonly GroupInfo[] {
    return this.#groups;
  }

  /**
   * Returns the schema of a generated struct, such as `meta/v1.DeleteOptions` or `core/v1.PodList`.
   * @throws Error for an unknown name
   */
  typeSchema(name: string): StructSchema {
    return this.#types.struct(name);
  }

  #servedGroup(group: string, versions: readonly string[]): GroupInfo[] {
    const served = versions.filter((version) =>
      this.resources.some((info) => info.group === group && info.version === version),
    );
    const [preferredVersion] = served;
    return preferredVersion === undefined ? [] : [{ group, versions: served, preferredVersion }];
  }
}

interface ResourceAt extends GroupVersion {
  readonly resource: string;
}

function generatedGroups(): { group: string; versions: readonly string[] }[] {
  return Object.entries(resourceEntries)
    .filter(([key]) => key.startsWith(groupKeyPrefix))
    .map(([key, versions]) => ({ group: key.slice(groupKeyPrefix.length), versions: versions as readonly string[] }));
}

function generatedResources(): [key: string, entry: ResourceEntry, at: ResourceAt][] {
  return Object.entries(resourceEntries)
    .filter(([key]) => !key.startsWith(groupKeyPrefix))
    .map(([key, entry]) => [key, entry as ResourceEntry, resourceAt(key)]);
}

/** `v1/pods` or `apps/v1/deployments`. */
function resourceAt(key: string): ResourceAt {
  const at = key.lastIndexOf("/");
  const groupVersion = groupVersionOf(key.slice(0, at));
  return { ...groupVersion, resource: key.slice(at + 1) };
}

function groupVersionOf(apiVersion: string): GroupVersion {
  const parsed = parseApiVersion(apiVersion);
  if (parsed === undefined) throw new Error(`${apiVersion} in the generated data is not an apiVersion`);
  return parsed;
}

/** One ResourceInfo per entry of the generated data, made on first use. */
class ResourceInfos {
  readonly #types: TypeSchemas;
  readonly #known = new Map<string, ResourceInfo>();

  constructor(types: TypeSchemas) {
    this.#types = types;
  }

  /** @param key `v1/pods` or `apps/v1/deployments` */
  of(key: string): ResourceInfo {
    let info = this.#known.get(key);
    if (info === undefined) {
      info = this.#make(resourceEntries[key] as ResourceEntry, resourceAt(key));
      this.#known.set(key, info);
    }
    return info;
  }

  #make(entry: ResourceEntry, at: ResourceAt): ResourceInfo {
    const groupResource = `${at.group}/${at.resource}`;
    const kind = builtInKindOf(at);
    const deprecation = deprecationOf(entry, at);
    return {
      group: at.group,
      version: at.version,
      kind: entry.kind,
      resource: at.resource,
      singular: entry.singular,
      listKind: entry.listKind,
      namespaced: entry.namespaced,
      verbs: entry.verbs,
      shortNames: entry.shortNames,
      categories: entry.categories,
      storageVersionHash: entry.hash ?? "",
      virtual: entry.virtual === 1,
      keyPrefix: `${entry.prefix ?? ""}/`,
      form: structForm(this.#types.struct(entry.type)),
      columns: tableColumns(entry.kind, tableEntries[groupResource]),
      table: kind.table,
      sensitive: kind.sensitive,
      specAnnotation: kind.specAnnotation,
      selectableFields: selectableFields(fieldSelectorEntries[groupResource] ?? [], kind.labels?.readers),
      ...(kind.labels?.refusal === undefined ? {} : { labelRefusal: kind.labels.refusal }),
      subresources: new Map(entry.subresources.map((sub) => [sub.name, subresourceInfo(sub, this.#types)])),
      ...(entry.storage === undefined ? {} : { storedAs: this.#storedAs(entry.storage, kind, at) }),
      ...(deprecation === undefined ? {} : { deprecation }),
    };
  }

  #storedAs(apiVersion: string, { conversions, labels }: Kind, { version, resource }: ResourceAt): StoredAs {
    const conversion = conversions?.[version]?.((name, value) => fitsType(this.#types, name, value));
    return {
      info: this.of(`${apiVersion}/${resource}`),
      ...(conversion === undefined ? {} : { conversion }),
      fieldLabels: labels?.storedLabels ?? new Map(),
    };
  }
}

/** Reports a value that can be read as a type of the generated data. */
function fitsType(types: TypeSchemas, name: string, value: JsonValue): boolean {
  try {
    decodeTyped(types.struct(name), value, { kind: name });
    return true;
  } catch (error) {
    if (error instanceof DecodeTypeError) return false;
    throw error;
  }
}

function subresourceInfo(entry: SubresourceEntry, types: TypeSchemas): SubresourceInfo {
  return {
    name: entry.name,
    gvk: { ...groupVersionOf(entry.apiVersion), kind: entry.kind },
    verbs: entry.verbs,
    form: structForm(types.struct(entry.type)),
  };
}

function discoveryOrder(
  groups: readonly { group: string; versions: readonly string[] }[],
): (a: ResourceInfo, b: ResourceInfo) => number {
  const ranks = new Map<string, number>();
  for (const { group, versions } of groups) {
    for (const version of versions) ranks.set(apiVersionOf({ group, version }), ranks.size);
  }
  const rankOf = (info: ResourceInfo) => ranks.get(apiVersionOf(info)) ?? ranks.size;
  return (a, b) => rankOf(a) - rankOf(b) || (a.resource < b.resource ? -1 : 1);
}
