/**
 * Writes src/api/scheme/generated/* and src/api/types/*.ts from the facts in scripts/scheme-facts.
 * Usage: bun scripts/generate-scheme.ts. Formats of input and output: scripts/README.md.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TypeEntries } from "../src/api/schema/compile.ts";
import { declarationFileName, namespaceOf, typeDeclarations } from "./type-declarations.ts";

/** Types in requests or responses that no resource refers to. */
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

const root = join(import.meta.dir, "..");
const factsDir = join(import.meta.dir, "scheme-facts");
const schemeDir = "src/api/scheme/generated";
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
  rules?: string[];
}
interface FactType {
  kind: "struct" | "enum" | "alias" | "special";
  of?: string;
  values?: unknown[];
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
  listKind?: string;
  type: string;
  namespaced: boolean;
  verbs: string[];
  shortNames?: string[];
  categories?: string[];
  stability: string;
  defaultOn: boolean;
  /** The stored version, if it is another one. */
  storage?: string;
  storageVersionHash?: string;
  etcdPrefix?: string;
  /** False for kinds that are never stored, such as reviews and bindings. */
  persisted?: false;
  /** Releases; `replacement` is "group,version,kind". */
  deprecated?: string;
  removed?: string;
  replacement?: string;
  subresources?: FactSubresource[];
}
interface FactColumn {
  name: string;
  type: string;
  format?: string;
  priority?: number;
}

if (import.meta.main) {
  for (const [path, text] of generateScheme()) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

/** The text of every generated file, by path from the root of the repository. */
export function generateScheme(): ReadonlyMap<string, string> {
  const { types } = facts<{ types: Record<string, FactType> }>("types");
  const { groups, resources } = facts<{
    groups: { group: string; versions: string[] }[];
    resources: FactResource[];
  }>("resources");
  const { defaults } = facts<{ defaults: Record<string, Record<string, unknown>> }>("defaults");
  const { tables } = facts<{ tables: Record<string, FactColumn[]> }>("tables");
  const { fieldselectors } = facts<{ fieldselectors: Record<string, string[]> }>("fieldselectors");
  const { internalTypes } = facts<{ internalTypes: Record<string, string> }>("internal-types");

  const reached = [...reachableTypes(types, resources)].sort();
  const served = new Set(resources.map(({ group, resource }) => `${group}/${resource}`));
  refuseUnreached("types", Object.keys(types), new Set(reached));
  refuseUnreached("defaults", Object.keys(defaults), new Set(reached));
  refuseUnreached("internal-types", Object.keys(internalTypes), new Set(reached));
  refuseUnreached("tables", Object.keys(tables), served);
  refuseUnreached("fieldselectors", Object.keys(fieldselectors), served);

  const typeEntries = reached.map((name): Entry => [name, typeEntry(factType(types, name))]);
  const scheme: [name: string, entries: Entry[]][] = [
    ["types", typeEntries],
    [
      "resources",
      [
        ...groups.map(({ group, versions }): Entry => [`group:${group}`, versions]),
        ...resources.map((resource): Entry => [resourceKey(resource), resourceEntry(resource)]),
      ],
    ],
    ["defaults", Object.entries(defaults)],
    ["tables", Object.entries(tables)],
    ["fieldselectors", Object.entries(fieldselectors)],
    ["internal-types", Object.entries(internalTypes)],
  ];
  const declarations = typeDeclarations(Object.fromEntries(typeEntries) as TypeEntries);
  return new Map([
    [`${schemeDir}/resources.ts`, resourceDeclarations(resources)],
    [`${schemeDir}/named-types.ts`, namedTypeDeclarations(typeEntries)],
    ...scheme.map(([name, entries]) => [`${schemeDir}/${name}.json`, entriesText(entries)] as const),
    ...[...declarations].map(([name, text]) => [`${typesDir}/${declarationFileName(name)}`, text] as const),
  ]);
}

function facts<T>(name: string): T {
  return JSON.parse(readFileSync(join(factsDir, `${name}.json`), "utf8")) as T;
}

/** @throws Error for facts about something that no resource refers to, which would be ignored silently */
function refuseUnreached(file: string, names: readonly string[], reached: ReadonlySet<string>): void {
  const idle = names.filter((name) => !reached.has(name));
  if (idle.length > 0) throw new Error(`${file}.json contains facts about unserved names: ${idle.join(", ")}`);
}

function resourceKey(resource: FactResource): string {
  return `${apiVersionOf(resource)}/${resource.resource}`;
}

function apiVersionOf({ group, version }: FactResource): string {
  return group === "" ? version : `${group}/${version}`;
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
    reached.add(name);
    if (type.of !== undefined) pending.push(...namedTypesIn(type.of));
    for (const field of type.fields ?? []) pending.push(...namedTypesIn(field.t));
  }
  return reached;
}

function factType(types: Record<string, FactType>, name: string): FactType {
  const type = types[name];
  if (type === undefined) throw new Error(`the facts do not contain the type ${name}`);
  return type;
}

/**
 * Returns the named types in a reference such as `map[core/v1.ResourceName]resource.Quantity`. Scalar names have no dot.
 */
function namedTypesIn(ref: string): string[] {
  return ref.split(/\[\]|map\[|\]/).filter((part) => part.includes("."));
}

function typeEntry(type: FactType): object {
  switch (type.kind) {
    case "struct":
      return {
        ...(type.structType === "atomic" ? { atomic: 1 } : {}),
        fields: (type.fields ?? []).map((field) => ({
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
          ...(field.mapType === undefined ? {} : { mt: field.mapType }),
          ...(field.structType === undefined ? {} : { mt: field.structType }),
          ...(field.default === undefined ? {} : { def: field.default }),
          ...(field.immutable === true ? { im: 1 } : {}),
          ...(field.gate === undefined ? {} : { gate: field.gate }),
          ...(field.rules === undefined ? {} : { dv: field.rules }),
        })),
      };
    case "enum":
      return { of: type.of, values: type.values };
    case "alias":
      return { of: type.of };
    case "special":
      return { special: 1 };
  }
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
    ...(resource.storage === undefined ? {} : { storage: resource.storage }),
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

/** Returns the resources as a TypeScript type: each once, with the type of the stored form. */
function resourceDeclarations(resources: readonly FactResource[]): string {
  const kinds = [
    ...Map.groupBy(resources, ({ group, resource }) => (group === "" ? resource : `${resource}.${group}`)),
  ];
  const lines = kinds.map(([name, versions]) => {
    const names = new Set(versions.flatMap(({ subresources = [] }) => subresources.map((sub) => sub.name)));
    const subresources = [...names].sort().map((sub) => `"${sub}"`);
    const key = /^[a-z]+$/.test(name) ? name : `"${name}"`;
    return `  readonly ${key}: { readonly object: ${objectType(versions, resources)}; readonly subresources: ${subresources.join(" | ") || "never"} };`;
  });
  return [
    "// long: generated by scripts/generate-scheme.ts, never edited",
    ...[...new Set(lines.map((line) => /object: (\w+)\./.exec(line)?.[1] ?? ""))]
      .sort()
      .map((name) => `import type * as ${name} from "../../types/${name.replace(/V(\d)/, "-v$1")}.ts";`),
    "",
    "/** By plural and group: the type of the stored object, and the names of the subresources. */",
    "export interface GeneratedResources {",
    ...lines,
    "}",
    "",
    "/** `pods` or `deployments.apps`: every resource of the built-in API. */",
    "export type GeneratedResource = keyof GeneratedResources;",
    "",
  ].join("\n");
}

/** Returns the types of the API as members of one type, by their names in the data. */
function namedTypeDeclarations(types: readonly Entry[]): string {
  const names = types.map(([name]) => name);
  const packages = [...new Set(names.map((name) => name.slice(0, name.lastIndexOf("."))))];
  return [
    "// long: generated by scripts/generate-scheme.ts, never edited",
    ...packages.map((name) => `import type * as ${namespaceOf(name)} from "../../types/${declarationFileName(name)}";`),
    "",
    "/** The types of the API by their names in the generated data. */",
    "export interface NamedTypes {",
    ...names.map((name) => `  readonly "${name}": ${namespaceOf(name)};`),
    "}",
    "",
  ].join("\n");
}

/** Returns a name such as `coreV1.Pod`. */
function objectType(versions: readonly FactResource[], resources: readonly FactResource[]): string {
  const [newest] = versions;
  const { storage } = newest ?? {};
  const stored =
    versions.find((version) => version.storage === undefined) ??
    resources.find((other) => other.resource === newest?.resource && apiVersionOf(other) === storage);
  if (stored === undefined) throw new Error(`the facts do not say how ${newest?.resource} is stored`);
  return namespaceOf(stored.type);
}

type Entry = [key: string, value: unknown];

/** Writes one entry per line, so that a change of one type changes one line. */
function entriesText(entries: Entry[]): string {
  const lines = entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  return `{\n${lines.join(",\n")}\n}\n`;
}
