import { isJsonObject, type JsonObject, type JsonValue } from "../../src/api/json.ts";
import { normalised } from "../vectors/normalised.ts";

const age = /^(\d+[smhdy])+$|^<invalid>$/;
const hostAndPort = /\b\d{1,3}(?:\.\d{1,3}){3}:\d{1,5}\b/g;
const suffix = /^[bcdfghjklmnpqrstvwxz2456789]{5}\b/;
/** Maximum length of the prefixes of generated names, of labels and of subdomains. */
const prefixLengths = [248, 58];
const lastSuffix = /[bcdfghjklmnpqrstvwxz2456789]{5}(?=["\\ ]|$)/g;
const certificate = /-----BEGIN CERTIFICATE-----[\s\S]*-----END CERTIFICATE-----\n?/;

/**
 * Returns an answer without the parts that differ between runs, in the form of the recorded ones: besides uids and times
 * these are addresses, ages, page tokens and generated names.
 * @param generateName of the request, "" for none
 */
export function comparableAnswer(answer: JsonValue, generateName: string): JsonValue {
  if (typeof answer === "string") return plainText(answer);
  const table = isJsonObject(answer) && answer["kind"] === "Table" ? withoutAges(answer) : answer;
  return withoutChance(normalised(table), generateName);
}

function withoutChance(value: JsonValue, generateName: string, key = ""): JsonValue {
  if (Array.isArray(value)) return value.map((item) => withoutChance(item, generateName, key));
  if (isJsonObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, withoutChance(item, generateName, name)]),
    );
  }
  if (typeof value !== "string") return value;
  if (key === "continue" && value !== "") return "<continue>";
  if (certificate.test(value)) return value.replace(certificate, "<certificate>");
  return withoutSuffix(value.replace(hostAndPort, "<address>"), generateName);
}

/** Returns a generated name with its suffix marked. Prefixes are cut if the name would be too long. */
function withoutSuffix(text: string, generateName: string): string {
  if (generateName === "") return text;
  const [first = "", ...rest] = text.split(generateName);
  const whole = first + rest.map((part) => generateName + part.replace(suffix, "<random>")).join("");
  return prefixLengths
    .filter((length) => length < generateName.length)
    .reduce((shown, length) => withoutSuffixOf(shown, generateName.slice(0, length)), whole);
}

function withoutSuffixOf(text: string, prefix: string): string {
  return text.replace(lastSuffix, (found, at: number) => (text.slice(0, at).endsWith(prefix) ? "<random>" : found));
}

function withoutAges(table: JsonObject): JsonObject {
  const columns = listOf(table["columnDefinitions"]).map(({ description: _prose, ...column }) => column);
  const rows = listOf(table["rows"]).map((row) => ({
    ...row,
    cells: (row["cells"] as JsonValue[]).map((cell, at) => (isAge(cell, columns[at]) ? "<age>" : shownCell(cell))),
  }));
  return { ...table, columnDefinitions: columns, rows };
}

function isAge(cell: JsonValue, column: JsonObject | undefined): boolean {
  return typeof cell === "string" && age.test(cell) && column?.["name"] !== "Completions";
}

/** Returns a cell with the placeholders that its value has as a field. */
function shownCell(cell: JsonValue): JsonValue {
  const asUser = normalised(cell, "username");
  return asUser === cell ? normalised(cell, "clusterIP") : asUser;
}

function listOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Returns YAML and other texts in their compared form. */
function plainText(text: string): string {
  return String(normalised(text))
    .replace(/^(\s*(?:- )?resourceVersion: )"\d+"$/gm, '$1"<rv>"')
    .replace(/^(\s*(?:- )?description: ).*(\n+ {4,}.*)*$/gm, "$1-")
    .replace(/^(\s*(?:- )?uid: )(?!.*1111-4111).*$/gm, "$1<uid>")
    .replace(hostAndPort, "<address>");
}
