import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { objectOf } from "../json-reading.ts";
import { parseJsonText, parseNatively, stringifyJson } from "./json.ts";

/** Field sets that are remembered before all of them are forgotten, and the longest text of one. */
const documentsMax = 1_000;
const textMax = 8_192;

/**
 * The `fieldsV1` of managedFields by their text. They are most of a small object, and objects of one shape have the
 * same, so that each is parsed once and shared. Nobody may change a document.
 */
const documents = new Map<string, JsonObject>();
const texts = new WeakMap<JsonObject, string>();

/** Returns the JSON of a field set, made on the first call. The set must not change afterwards. */
export function fieldSetText(document: JsonObject): string {
  let text = texts.get(document);
  if (text === undefined) {
    text = stringifyJson(document);
    texts.set(document, text);
  }
  return text;
}

/**
 * Parses a stored body. Cuts out the field sets, which are mostly known, and parses the rest. A cut in the wrong place
 * leaves parts that are not JSON, and then the whole body is parsed.
 */
export function parseStoredBody(text: string): JsonValue {
  return parseWithoutFieldSets(text) ?? parseJsonText(text);
}

/** Does the same, and yields between the texts that it parses. */
export function* parseStoredBodyInSteps(text: string): Generator<void, JsonValue> {
  const cut = cutFieldSets(text);
  if (cut === undefined) return parseJsonText(text);
  const sets: (JsonObject | undefined)[] = [];
  for (const set of cut.sets) {
    sets.push(documentOf(set));
    yield;
  }
  return joined(cut, sets) ?? parseJsonText(text);
}

function parseWithoutFieldSets(text: string): JsonValue | undefined {
  const cut = cutFieldSets(text);
  return cut && joined(cut, cut.sets.map(documentOf));
}

/** The text of a body without its field sets, and their texts. */
interface CutBody {
  readonly rest: string;
  readonly sets: readonly string[];
}

function cutFieldSets(text: string): CutBody | undefined {
  const start = text.indexOf('"managedFields":[');
  const end = start === -1 ? -1 : text.indexOf("}]", start);
  if (end === -1) return undefined;
  const entries = text.slice(start, end);
  const sets: string[] = [];
  let rest = text.slice(0, start);
  let at = 0;
  for (const { from, to } of fieldSetPlaces(entries)) {
    sets.push(entries.slice(from, to));
    rest += `${entries.slice(at, from)}null`;
    at = to;
  }
  return { rest: rest + entries.slice(at) + text.slice(end), sets };
}

/** Parses the rest of a body, and puts its field sets back; undefined if it was cut in the wrong place. */
function joined({ rest }: CutBody, sets: readonly (JsonObject | undefined)[]): JsonValue | undefined {
  if (sets.includes(undefined)) return undefined;
  const body = parseNatively(rest);
  return body !== undefined && putBack(body, sets as readonly JsonObject[]) ? body : undefined;
}

const member = '"fieldsV1":';

/** Finds the field sets in the text of the entries, without the end of the last entry. Field sets hold no list or text. */
function* fieldSetPlaces(entries: string): Generator<{ readonly from: number; readonly to: number }> {
  let to = 0;
  for (let at = entries.indexOf(member); at !== -1; at = entries.indexOf(member, to)) {
    const from = at + member.length;
    to = Math.min(endBefore('},{"', entries, from), endBefore(',"subresource":"', entries, from));
    yield { from, to };
  }
}

function endBefore(next: string, entries: string, from: number): number {
  const at = entries.indexOf(`}${next}`, from);
  return at === -1 ? entries.length : at + 1;
}

/** Returns the document of a text; undefined if it is not a JSON object. */
function documentOf(text: string): JsonObject | undefined {
  const known = documents.get(text);
  if (known !== undefined) return known;
  const document = parseNatively(text);
  if (!isJsonObject(document)) return undefined;
  if (text.length > textMax) return document;
  if (documents.size === documentsMax) documents.clear();
  // The text of the document, which equals this one, does not keep the whole body in memory.
  documents.set(fieldSetText(document), document);
  return document;
}

/** Puts the field sets back; false if they came from elsewhere than the managedFields of the object itself. */
function putBack(body: JsonValue, sets: readonly JsonObject[]): boolean {
  const { managedFields } = objectOf(objectOf(body)["metadata"]);
  const entries = Array.isArray(managedFields) ? managedFields.map(objectOf) : [];
  const cut = entries.filter((entry) => entry["fieldsV1"] === null);
  if (cut.length !== sets.length) return false;
  for (const [at, entry] of cut.entries()) entry["fieldsV1"] = sets[at] as JsonObject;
  return true;
}
