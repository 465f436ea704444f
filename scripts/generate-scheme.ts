/**
 * Writes src/scheme/generated/*.json and src/api/types/*.ts from a directory of facts about the built-in API.
 * Usage: bun scripts/generate-scheme.ts <facts-dir>. Formats of input and output: scripts/README.md.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TypeEntries } from "../src/schema/compile.ts";
import { declarationFileName, typeDeclarations } from "./type-declarations.ts";

/** Types that no resource leads to and that requests or responses carry nevertheless. */
const metaTypes = [
  "meta/v1.APIGroup",
  "meta/v1.APIGroupList",
  "meta/v1.APIResourceList",
  "meta/v1.APIVersions",
  "meta/v1.CreateOptions",
  "meta/v1.DeleteOptions",
  "meta/v1.GetOptions",
  "meta/v1.LabelSelector",
  "meta/v1.List",
  "meta/v1.ListOptions",
  "meta/v1.PartialObjectMetadata",
  "meta/v1.PartialObjectMetadataList",
  "meta/v1.PatchOptions",
  "meta/v1.Status",
  "meta/v1.Table",
  "meta/v1.TableOptions",
  "meta/v1.UpdateOptions",
  "meta/v1.WatchEvent",
];

/** Releases above the one whose API is served: what is new in them is left out. */
const unservedReleases = new Set(["1.37", "1.38"]);

/** Feature gates of those releases: a field behind one of them is new too. */
const unservedGates = new Set([
  "AtomicWriteVolumeUserFields",
  "CSIVolumeHealth",
  "CompositePodGroup",
  "DRAOptionalNodeOperations",
  "DRAPartitionableDevicesType",
  "EmptyDirVolumeMode",
  "EvictionRequestAPI",
  "GRPCContainerProbeTLS",
  "H2CContainerProbe",
  "InPlacePodVerticalScalingSchedulerPreemption",
  "PodGroupPreemptionPolicy",
  "ResourceHealthStatusMessage",
  "StatefulSetRecreateStrategy",
  "VolumeBindMountOptions",
]);

/** Markers that no rule follows from, or none that a single value can break. */
const silentMarkers =
  /^(opaqueType|optional|custom|modeDiscriminator|ifMode|item\(|zeroOrOneOfMember)|=(opaqueType|optional)$/;

const root = join(import.meta.dir, "..");
const schemeDir = "src/scheme/generated";
const typesDir = "src/api/types";

interface FactField {
  n: string;
  t: string;
  inline?: true;
  num?: number;
  ptr?: true;
  omitempty?: true;
  omitzero?: true;
  req?: true;
  patchStrategy?: string;
  patchMergeKey?: string;
  listType?: string;
  listMapKeys?: string[];
  mapType?: string;
  structType?: string;
  default?: unknown;
  gate?: string;
  immutable?: true;
  newIn?: string;
  /** Validation markers: `[<stage>@<release> ]<marker>`. */
  dv?: string[];
}
interface FactType {
  kind: "struct" | "enum" | "alias" | "special" | "protoOnly";
  of?: string;
  values?: unknown[];
  exclude?: unknown[];
  /** Value → the feature gate that allows it. */
  gated?: Record<string, string>;
  fields?: FactField[];
  structType?: string;
}
interface FactSubresource {
  name: string;
  kind: string;
  apiVersion: string;
  type: string;
  verbs: string[];
}
interface FactResource {
  group: string;
  version: string;
  resource: string;
  singular: string;
  kind: string;
  type: string;
  namespaced: boolean;
  verbs: string[];
  listKind?: string;
  /** The version that is written to the store, where it is not the preferred one of the same kind. */
  storage?: string;
  shortNames?: string[];
  categories?: string[];
  defaultOn: boolean;
  stability: string;
  storageVersionHash: string;
  etcdPrefix: string;
  newIn?: string;
  /** Releases; `replacement` is "group,version,kind". */
  deprecated?: string;
  removed?: string;
  replacement?: string;
  /** False for kinds that are answered and never stored: reviews, bindings. */
  persisted?: false;
  subresources?: FactSubresource[];
}
interface FactDefault {
  kind: string;
  path: string;
  value?: unknown;
  when?: string;
  gate?: string;
}
interface FactTable {
  group: string;
  resource: string;
  columns: { name: string; type: string; format?: string; priority?: number }[];
}
interface FactFieldSelectors {
  group: string;
  resource: string;
  fields: Record<string, string>;
}

if (import.meta.main) main(process.argv[2]);

function main(factsDir: string | undefined): void {
  if (factsDir === undefined) {
    console.error("usage: bun scripts/generate-scheme.ts <facts-dir>");
    process.exit(2);
  }
  for (const [path, text] of generateScheme(factsDir)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

/** Path from the root of the repository → text, for every generated file. */
export function generateScheme(factsDir: string): ReadonlyMap<string, string> {
  const read = <T>(name: string): T => JSON.parse(readFileSync(join(factsDir, `${name}.json`), "utf8")) as T;
  const { types } = read<{ types: Record<string, FactType> }>("types");
  const facts = read<{ groups: { group: string; versions: string[] }[]; resources: FactResource[] }>("resources");
  const { defaults } = read<{ defaults: FactDefault[] }>("defaults");
  const { tables } = read<{ tables: FactTable[] }>("tables");
  const { resources: selectors } = read<{ resources: FactFieldSelectors[] }>("fieldselectors");

  const resources = servedFrom(facts.resources);
  const reached = reachableTypes(types, resources);
  const served = new Set(resources.map(({ group, resource }) => `${group}/${resource}`));
  const typeEntries = [...reached].sort().map((name): Entry => [name, typeEntry(types, factType(types, name))]);

  const scheme: [name: string, entries: Entry[]][] = [
    ["types", typeEntries],
    [
      "resources",
      [
        ...groupsOf(facts.groups, resources).map(({ group, versions }): Entry => [`group:${group}`, versions]),
        ...resources.map((resource): Entry => [resourceKey(resource), resourceEntry(resource)]),
      ],
    ],
    ["defaults", defaultEntries(defaults, reached)],
    [
      "tables",
      tables
        .filter(({ group, resource }) => served.has(`${group}/${resource}`))
        .map(({ group, resource, columns }) => [`${group}/${resource}`, columns.map(columnEntry)]),
    ],
    [
      "fieldselectors",
      selectors
        .filter(({ group, resource }) => served.has(`${group}/${resource}`))
        .map(({ group, resource, fields }) => [`${group}/${resource}`, Object.keys(fields)]),
    ],
  ];
  const declarations = typeDeclarations(Object.fromEntries(typeEntries) as TypeEntries);
  return new Map([
    ...scheme.map(([name, entries]) => [`${schemeDir}/${name}.json`, entriesText(entries)] as const),
    ...[...declarations].map(([name, text]) => [`${typesDir}/${declarationFileName(name)}`, text] as const),
  ]);
}

/** Every kind of the served release; whether it is on by default is decided at start. */
function servedFrom(all: FactResource[]): FactResource[] {
  return all.filter(({ newIn }) => !unservedReleases.has(newIn ?? ""));
}

function resourceKey(resource: FactResource): string {
  return `${apiVersionOf(resource)}/${resource.resource}`;
}

function apiVersionOf({ group, version }: FactResource): string {
  return group === "" ? version : `${group}/${version}`;
}

/** Groups in discovery order, each with its served versions in preference order. */
function groupsOf(
  groups: { group: string; versions: string[] }[],
  resources: FactResource[],
): { group: string; versions: string[] }[] {
  const served = new Set(resources.map(({ group, version }) => `${group}/${version}`));
  return groups
    .map(({ group, versions }) => ({
      group,
      versions: versions.filter((version) => served.has(`${group}/${version}`)),
    }))
    .filter(({ versions }) => versions.length > 0);
}

function reachableTypes(types: Record<string, FactType>, resources: FactResource[]): Set<string> {
  const reached = new Set<string>();
  const pending = [...metaTypes];
  for (const { type, listKind, subresources = [] } of resources) {
    const listType = listKind === undefined ? [] : [`${type.slice(0, type.lastIndexOf("."))}.${listKind}`];
    pending.push(type, ...listType, ...subresources.map((sub) => sub.type));
  }
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (reached.has(name)) continue;
    const type = factType(types, name);
    if (type.kind !== "protoOnly") reached.add(name);
    if (type.of !== undefined) pending.push(...namedTypesIn(type.of));
    for (const field of keptFields(types, type)) pending.push(...namedTypesIn(field.t));
  }
  return reached;
}

function factType(types: Record<string, FactType>, name: string): FactType {
  const type = types[name];
  if (type === undefined) throw new Error(`the facts do not know the type ${name}`);
  return type;
}

/** The named types in a reference such as `map[core/v1.ResourceName]resource.Quantity`; scalar names have no dot. */
function namedTypesIn(ref: string): string[] {
  return ref.split(/\[\]|map\[|\]/).filter((part) => part.includes("."));
}

/** Fields that are served. One whose type has none of its own left goes too. */
function keptFields(types: Record<string, FactType>, type: FactType): FactField[] {
  return (type.fields ?? []).filter((field) => isServedField(field) && !isEmptied(types, types[field.t]));
}

function isServedField({ newIn = "", gate = "" }: FactField): boolean {
  return !unservedReleases.has(newIn) && !gate.split(",").some((name) => unservedGates.has(name));
}

function isEmptied(types: Record<string, FactType>, type: FactType | undefined): boolean {
  const fields = type?.fields ?? [];
  return fields.length > 0 && fields.every((field) => !isServedField(field) || isEmptied(types, types[field.t]));
}

function typeEntry(types: Record<string, FactType>, type: FactType): object {
  switch (type.kind) {
    case "struct":
      return {
        ...(type.structType === "atomic" ? { atomic: 1 } : {}),
        fields: keptFields(types, type).map((field) => ({
          n: field.n,
          t: field.t,
          ...(field.inline === true ? { inline: 1 } : {}),
          ...(field.num === undefined ? {} : { num: field.num }),
          ...(field.ptr === true ? { ptr: 1 } : {}),
          ...(field.omitempty === true ? { oe: 1 } : {}),
          ...(field.omitzero === true ? { oz: 1 } : {}),
          ...(field.req === true ? { req: 1 } : {}),
          ...(field.patchStrategy === undefined ? {} : { ps: field.patchStrategy }),
          ...(field.patchMergeKey === undefined ? {} : { pk: field.patchMergeKey }),
          ...(field.listType === undefined ? {} : { lt: field.listType }),
          ...(field.listMapKeys === undefined ? {} : { lk: field.listMapKeys }),
          ...(field.mapType === "atomic" || field.structType === "atomic" ? { mt: "atomic" } : {}),
          ...(field.default === undefined ? {} : { def: field.default }),
          ...(field.immutable === true ? { im: 1 } : {}),
          ...(field.gate === undefined ? {} : { gate: field.gate }),
          ...(rulesOf(field).length === 0 ? {} : { dv: rulesOf(field) }),
        })),
      };
    case "enum":
      return { of: type.of, values: (type.values ?? []).filter((value) => isServedValue(type, value)) };
    case "alias":
      return { of: type.of };
    case "special":
    case "protoOnly":
      return { special: 1 };
  }
}

/** Markers that say something about values, without their stage. Those in alpha are not part of the served release. */
function rulesOf({ dv = [] }: FactField): string[] {
  return dv
    .filter((marker) => !marker.startsWith("alpha@"))
    .map((marker) => marker.replace(/^beta@\d+\.\d+ /, ""))
    .filter((marker) => !silentMarkers.test(marker) && !namesUnservedGate(marker));
}

function namesUnservedGate(marker: string): boolean {
  const [, gate = ""] = /^if(?:En|Dis)abled\((\w+)\)/.exec(marker) ?? [];
  return unservedGates.has(gate);
}

function isServedValue({ exclude = [], gated = {} }: FactType, value: unknown): boolean {
  return !exclude.includes(value) && !unservedGates.has(gated[String(value)] ?? "");
}

function resourceEntry(resource: FactResource): object {
  return {
    kind: resource.kind,
    type: resource.type,
    singular: resource.singular,
    listKind: resource.listKind ?? "",
    namespaced: resource.namespaced,
    verbs: resource.verbs,
    shortNames: resource.shortNames ?? [],
    categories: resource.categories ?? [],
    stability: resource.stability,
    defaultOn: resource.defaultOn,
    hash: resource.storageVersionHash,
    prefix: resource.etcdPrefix,
    ...(resource.storage === undefined || resource.storage === apiVersionOf(resource)
      ? {}
      : { storage: resource.storage }),
    ...(resource.persisted === false ? { virtual: 1 } : {}),
    ...(resource.deprecated === undefined ? {} : { deprecated: resource.deprecated }),
    ...(resource.removed === undefined ? {} : { removed: resource.removed }),
    ...(resource.replacement === undefined ? {} : { replacement: resource.replacement }),
    subresources: (resource.subresources ?? []).map(({ name, kind, apiVersion, type, verbs }) => ({
      name,
      kind,
      apiVersion,
      type,
      verbs,
    })),
  };
}

/** Only unconditional values: a rule or a condition is a function in src/scheme/defaults. */
function defaultEntries(defaults: FactDefault[], reached: Set<string>): Entry[] {
  const byType = new Map<string, Record<string, unknown>>();
  for (const { kind, path, value, when, gate } of defaults) {
    if (!reached.has(kind) || value === undefined || when !== undefined || gate !== undefined) continue;
    if (/[^A-Za-z0-9]/.test(path)) continue;
    const paths = byType.get(kind) ?? {};
    paths[path] = value;
    byType.set(kind, paths);
  }
  return [...byType].sort(([a], [b]) => (a < b ? -1 : 1));
}

function columnEntry({ name, type, format, priority }: FactTable["columns"][number]): object {
  return { name, type, ...(format === undefined ? {} : { format }), ...(priority === undefined ? {} : { priority }) };
}

type Entry = [key: string, value: unknown];

/** One entry per line, so that a change of one type is a change of one line. */
function entriesText(entries: Entry[]): string {
  const lines = entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  return `{\n${lines.join(",\n")}\n}\n`;
}
