import { emptyJsonObject, type JsonObject, type JsonValue, sortedJson } from "../../api/json.ts";
import { objectsOf, textOf } from "../../api/json-reading.ts";
import type { DocumentPart, DocumentParts } from "./document-part.ts";
import { withReferences } from "./references.ts";
import { definitionPrefix, parameterPrefix, partOf, type SwaggerPart } from "./swagger-part.ts";

const kindsKey = "x-kubernetes-group-version-kind";

/**
 * Adds parts of other documents to a Swagger document. A path that the document already has is unchanged. A definition or
 * parameter with a taken name is shared if it is equal, and renamed otherwise.
 * @param document in the order of `openApiV2Parts`
 */
export function* mergedSwagger(
  document: DocumentParts,
  others: readonly SwaggerPart[],
): Generator<DocumentPart | undefined> {
  const paths = new Set<string>();
  const definitions = new Map<string, JsonObject>();
  const parameters = new Map<string, JsonObject>();
  const last: DocumentPart[] = [];
  for (const part of document) {
    const [section, name = ""] = part?.path ?? [];
    if (part === undefined) yield undefined;
    else if (section === "definitions") definitions.set(name, part.value as JsonObject);
    else if (section === "parameters") parameters.set(name, part.value as JsonObject);
    else if (definitions.size > 0) last.push(part);
    else {
      if (section === "paths") paths.add(name);
      yield part;
      continue;
    }
    // The names of the definitions must be known before the paths of the others are written.
    yield undefined;
  }
  for (const other of others) {
    const added = withFreeNames(
      partOf(other, (path) => !paths.has(path)),
      definitions,
      parameters,
    );
    for (const [path, value] of added.paths) {
      paths.add(path);
      yield { path: ["paths", path], value };
    }
    for (const [name, value] of added.definitions) {
      const known = definitions.get(name);
      definitions.set(name, known === undefined ? value : withKindsOf(known, value));
    }
    for (const [name, value] of added.parameters) if (!parameters.has(name)) parameters.set(name, value);
    yield undefined;
  }
  yield* sorted("definitions", definitions);
  yield* sorted("parameters", parameters);
  yield* last;
}

function* sorted(section: string, entries: ReadonlyMap<string, JsonObject>): Generator<DocumentPart> {
  for (const [name, value] of [...entries].sort(([a], [b]) => (a < b ? -1 : 1))) yield { path: [section, name], value };
}

/** Renames the definitions and parameters whose name has another meaning in the document. */
function withFreeNames(
  part: SwaggerPart,
  definitions: ReadonlyMap<string, JsonObject>,
  parameters: ReadonlyMap<string, JsonObject>,
): SwaggerPart {
  const newDefinitions = renamed(part.definitions, definitions);
  const newParameters = renamed(part.parameters, parameters);
  if (newDefinitions.size + newParameters.size === 0) return part;
  const references = new Map([
    ...[...newDefinitions].map(([from, to]) => [definitionPrefix + from, definitionPrefix + to] as const),
    ...[...newParameters].map(([from, to]) => [parameterPrefix + from, parameterPrefix + to] as const),
  ]);
  const copied = (entries: ReadonlyMap<string, JsonObject>, names: ReadonlyMap<string, string>) =>
    new Map([...entries].map(([name, value]) => [names.get(name) ?? name, withReferences(value, references)]));
  return {
    paths: copied(part.paths, new Map()),
    definitions: copied(part.definitions, newDefinitions),
    parameters: copied(part.parameters, newParameters),
  };
}

/** Returns new names for entries whose name has another meaning: `<name>_v2`, or the next free one. */
function renamed(
  entries: ReadonlyMap<string, JsonObject>,
  taken: ReadonlyMap<string, JsonObject>,
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [name, value] of entries) {
    const known = taken.get(name);
    if (known === undefined) continue;
    const text = textWithoutKinds(value);
    if (textWithoutKinds(known) === text) continue;
    // The number of entries limits the taken names, so the search ends.
    for (let version = 2; ; version++) {
      const candidate = `${name}_v${version}`;
      const other = taken.get(candidate);
      if (other === undefined ? entries.has(candidate) : textWithoutKinds(other) !== text) continue;
      names.set(name, candidate);
      break;
    }
  }
  return names;
}

function textWithoutKinds(value: JsonObject): string {
  const { [kindsKey]: _, ...rest } = value;
  return JSON.stringify(sortedJson(rest), (__, item: JsonValue) => (typeof item === "bigint" ? `${item}n` : item));
}

/** Adds the kinds of an equal definition. */
function withKindsOf(known: JsonObject, other: JsonObject): JsonObject {
  const kinds = new Map(objectsOf(known[kindsKey]).map((kind) => [kindText(kind), kind]));
  const before = kinds.size;
  for (const kind of objectsOf(other[kindsKey])) if (!kinds.has(kindText(kind))) kinds.set(kindText(kind), kind);
  if (kinds.size === before) return known;
  const merged = [...kinds].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, kind]) => kind);
  return Object.assign(emptyJsonObject(), known, { [kindsKey]: merged });
}

function kindText({ group, version, kind }: Partial<JsonObject>): string {
  return `${textOf(group)}/${textOf(version)}.${textOf(kind)}`;
}
